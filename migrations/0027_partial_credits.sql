-- The nearest integer to a quotient that is not negative; of two, the even one.
create function half_even(p_dividend numeric, p_divisor numeric) returns numeric language sql immutable
  return div(p_dividend, p_divisor) + case
    when 2 * (p_dividend % p_divisor) < p_divisor then 0
    when 2 * (p_dividend % p_divisor) > p_divisor then 1
    else div(p_dividend, p_divisor) % 2 end;
