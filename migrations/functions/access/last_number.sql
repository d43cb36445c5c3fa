-- The last number drawn for a table.
create or replace function last_number(p_table text, p_number text) returns bigint language plpgsql set search_path from current as $$
declare
  v_last bigint;
begin
  execute format('select case when is_called then last_value else 0 end from %s',
    pg_get_serial_sequence(quote_ident(p_table), p_number)) into v_last;
  return v_last;
end $$;
