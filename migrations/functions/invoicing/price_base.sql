-- For how many units the price of a line is. Minutes have the price of an hour, because the price of a minute is often no
-- decimal number. The price of a lump sum has twelve decimals.
create or replace function price_base(p_unit text) returns numeric language sql immutable parallel safe
  return case p_unit when 'minute' then 60 when 'lump_sum' then 1000000 else 1 end;
