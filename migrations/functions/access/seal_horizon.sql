-- The last sealed number of each chain and the last number drawn from its sequence. Once the oldest running transaction is
-- younger than `mark`, no smaller number can appear. `mark` is null if every row is sealed.
create or replace function seal_horizon()
returns table (chain text, sealed bigint, last bigint, mark text, oldest text) language plpgsql set search_path from current as $$
declare
  v_chain seal_chain;
  v_oldest text := pg_snapshot_xmin(pg_current_snapshot())::text;
begin
  for v_chain in select * from seal_chain order by name loop
    chain := v_chain.name;
    sealed := v_chain.upto;
    oldest := v_oldest;
    last := last_number(chain, v_chain.number);
    -- Not the snapshot's xmax: running transactions may be younger than that.
    mark := case when last > sealed then pg_current_xact_id()::text end;
    return next;
  end loop;
end $$;
