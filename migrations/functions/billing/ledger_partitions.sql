-- Creates the ledger's partitions for the months from p_from to p_to, both included.
create or replace function ledger_partitions(p_from date, p_to date) returns void language plpgsql set search_path from current as $$
declare
  v_month date := date_trunc('month', p_from)::date;
  v_name text;
begin
  perform pg_advisory_xact_lock(hashtext('ledger_partitions'));
  while v_month <= p_to loop
    v_name := 'ledger_' || to_char(v_month, 'YYYY_MM');
    if to_regclass(v_name) is null then
      execute format('create table %I partition of ledger for values from (%L) to (%L)', v_name,
        v_month::timestamp at time zone 'UTC', (v_month + interval '1 month') at time zone 'UTC');
    end if;
    v_month := (v_month + interval '1 month')::date;
  end loop;
end $$;
