"""Tests of the price functions."""

import unittest

from prices import discounted, total


class PricesTest(unittest.TestCase):
    def test_no_discount_changes_nothing(self):
        self.assertEqual(total([100, 250]), 350)

    def test_ten_per_cent_off(self):
        self.assertEqual(discounted(1000, 10), 900)

    def test_halves_are_rounded_to_even(self):
        self.assertEqual(discounted(5, 50), 2)


if __name__ == "__main__":
    unittest.main()
