-- The tokens of a reply that may be charged, where it used more than its hold: as many as the credit and the tokens per minute that are
-- left allow, the input first. The output that was asked for at most bounds the cost of a reply, whatever a model reports, so only input is
-- charged beyond the hold.
create or replace function chargeable(p_input integer, p_output integer, p_cached integer, p_cache_write integer, p_held_input integer,
  p_held_output integer, p_input_price bigint, p_output_price bigint, p_cached_price bigint, p_cache_write_price bigint,
  p_credit numeric, p_tokens bigint, out input integer, out output integer)
language plpgsql immutable
set search_path from current
as $$
declare
  c_ends constant bigint[] := array[p_input, p_input::bigint + p_cache_write, p_input::bigint + p_cache_write + p_cached];
  c_prices constant bigint[] := array[p_input_price, coalesce(p_cache_write_price, p_input_price),
    coalesce(p_cached_price, p_input_price)];
  v_tokens bigint;
  v_credit numeric;
  v_more bigint;
begin
  input := least(c_ends[3], p_held_input);
  output := least(p_output, p_held_output);
  v_tokens := p_tokens - input - output;
  v_credit := p_credit - tokens_cost(least(input, p_input), output, greatest(0, input - c_ends[2]),
    greatest(0, least(p_cache_write, input - p_input)), p_input_price, p_output_price, p_cached_price, p_cache_write_price);
  for i in 1 .. 3 loop
    continue when input >= c_ends[i];
    v_more := least(v_tokens, c_ends[i] - input, div(v_credit, nullif(c_prices[i], 0)));
    input := input + v_more;
    v_tokens := v_tokens - v_more;
    v_credit := v_credit - v_more::numeric * c_prices[i];
    exit when input < c_ends[i];
  end loop;
end $$;
-- That of version 0.2.0.
drop function if exists chargeable(integer, integer, integer, integer, bigint, bigint, numeric, bigint);
