"""Where private tables live and exact integer aggregates are computed, behind one
protocol.
"""
