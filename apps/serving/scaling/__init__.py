"""Services whose number of replicas follows the load.

`deciding` is the rule, `loads` what gateways tell, `following` the loop, `bounds` what people set.
"""
