-- Gives the transaction its id before its row takes a number: seal_horizon() relies on that order.
create or replace function take_transaction_id() returns trigger language plpgsql set search_path from current as $$
begin
  perform pg_current_xact_id();
  return null;
end $$;
