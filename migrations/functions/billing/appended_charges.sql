-- The charges that these instances have appended to the ledger and that are in no sum yet; those of all instances if null. Looks only
-- among the accounts of which they have an allowance, unless p_everywhere.
create or replace function appended_charges(p_instances uuid[] default null, p_everywhere boolean default true) returns setof ledger
language plpgsql stable
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
begin
  if p_everywhere then
    return query
      select l.* from instance i
        join ledger l on l.number > i.folded and l.at >= i.appended_since and l.instance = i.number
      where i.appended_since is not null and (p_instances is null or i.id = any(p_instances));
  else
    return query
      select l.* from instance i
        join allowance a on a.instance_id = i.id and (a.held, a.credit, a.requests, a.tokens) <> (0, 0, 0, 0)
        -- With "offset 0" and "+ 0", the index on account and time is read from that time on, also by a plan that was made for a small ledger.
        cross join lateral (select * from ledger where ledger.account_id = a.account_id and ledger.at >= i.appended_since
          and ledger.number + 0 > i.folded and ledger.instance = i.number offset 0) l
      where i.appended_since is not null and i.id = any(p_instances);
  end if;
end $$;
