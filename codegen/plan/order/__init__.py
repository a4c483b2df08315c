"""In which order steps run: the least peak over all orders, proved where the limits allow it.

In: an `OrderGraph` of steps and bytes, no IR. Out: an order and what is known about it.
Start with `best_order`.
"""
