"""What tools/trace.py is made of: a dump becomes events (dump), events become spans (spans), and those are told of
(summary, findings), drawn (page, svg), followed (live) or written for other programs (perfetto, vcd)."""
