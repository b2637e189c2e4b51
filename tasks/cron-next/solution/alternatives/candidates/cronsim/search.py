"""Moments as a lazy product of days and times, in either direction."""
import calendar
from datetime import datetime, timedelta
from itertools import product

YEARS = 50


def install(cls):
    cls.__iter__ = lambda self: self
    cls.__next__ = find_next


def find_next(sim):
    if sim.skip_initial_tick:
        sim.skip_initial_tick = False
        first = sim.dt
    else:
        first = sim.dt + sim.tick_direction * timedelta(seconds=1)
    sim.dt = next(moments(sim, first))
    return sim.dt


def moments(sim, first):
    """All matches from first on, in the direction of sim. Ends after YEARS."""
    backwards = sim.tick_direction < 0

    def ordered(values):
        return sorted(values, reverse=backwards)

    def not_passed(value, limit):
        return value <= limit if backwards else value >= limit

    times = list(product(ordered(sim.hours), ordered(sim.minutes), ordered(sim.seconds)))
    start = (first.year, first.month, first.day)
    for offset in range(YEARS + 1):
        year = first.year + offset * sim.tick_direction
        for month in ordered(sim.months):
            if not not_passed((year, month), start[:2]):
                continue
            for day in ordered(days_of_month(sim, year, month)):
                if not not_passed((year, month, day), start):
                    continue
                for hour, minute, second in times:
                    moment = datetime(year, month, day, hour, minute, second, tzinfo=first.tzinfo)
                    if not_passed(moment, first):
                        yield moment


def days_of_month(sim, year, month):
    before, length = calendar.monthrange(year, month)
    numbers = range(1, length + 1)
    # Sunday is 0
    weekday = {day: (before + day) % 7 for day in numbers}

    by_number = {day for day in sim.days if day in numbers}
    if sim.LAST in sim.days:
        by_number.add(length)
    if sim.LAST_WEEKDAY in sim.days:
        by_number.add(max(day for day in numbers if weekday[day] not in (0, 6)))

    by_weekday = set()
    for item in sim.weekdays:
        if not isinstance(item, tuple):
            by_weekday |= {day for day in numbers if weekday[day] == item % 7}
            continue
        same = [day for day in numbers if weekday[day] == item[0] % 7]
        if item[1] == sim.LAST:
            by_weekday.add(same[-1])
        else:
            by_weekday.update(same[item[1] - 1:item[1]])

    return by_number & by_weekday if sim.day_and else by_number | by_weekday
