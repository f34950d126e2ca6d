def cap_by_hull(context, front, least, driver): pass
