-- What tokens of the four kinds cost, in 10⁻¹² of the currency unit.
create or replace function tokens_cost(p_input bigint, p_output bigint, p_cached bigint, p_cache_write bigint, p_input_price bigint,
  p_output_price bigint, p_cached_price bigint, p_cache_write_price bigint) returns numeric language sql immutable
return p_input::numeric * p_input_price + p_output::numeric * p_output_price
  + p_cached::numeric * coalesce(p_cached_price, p_input_price)
  + p_cache_write::numeric * coalesce(p_cache_write_price, p_input_price);
