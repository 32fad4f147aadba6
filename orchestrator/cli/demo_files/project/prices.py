"""Prices with discount, in cents."""


def discounted(price: int, percent: int) -> int:
    """Return the price less ``percent`` per cent, rounded to the nearest cent."""
    return price - price * percent // 10


def total(prices: list[int], percent: int = 0) -> int:
    """Return the sum of all prices after the discount."""
    return sum(discounted(price, percent) for price in prices)
