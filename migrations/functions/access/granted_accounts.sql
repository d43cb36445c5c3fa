-- The accounts that a developer sees, on whose behalf this transaction runs. None for anyone else, and for who is no developer any more.
create or replace function granted_accounts() returns uuid[] language sql stable security definer set search_path from current as $$
  select coalesce(array_agg(g.account_id), '{}') from account_grant g join person p on p.id = g.person_id
  where p.id = portal_person() and p.role = 'developer' and p.status = 'active'
$$;
revoke execute on function granted_accounts() from public;
do $$
declare
  v_table text;
begin
  execute format('grant execute on function granted_accounts() to %I', portal_role('developer'));
  foreach v_table in array array['refusal_day', 'refused_request', 'usage_day', 'ledger', 'key_limit', 'budget', 'batch', 'api_key', 'account'] loop
    execute format('drop policy if exists granted on %I', v_table);
    -- As a scalar, it is computed once for a statement, and indexes find the rows. The name of a scratch key has that of its person.
    execute format('create policy granted on %I for select to %I using (%s = any ((select granted_accounts())::uuid[])%s)', v_table,
      portal_role('developer'), case v_table when 'account' then 'id' else 'account_id' end,
      case v_table when 'api_key' then ' and (person_id is null or person_id = (select portal_person()))' end);
  end loop;
  drop policy if exists granted on budget_key;
  execute format('create policy granted on budget_key for select to %I using (budget_id in (select id from budget))', portal_role('developer'));
end $$;
