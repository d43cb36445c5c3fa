-- Lists what was used in the months that are over and not closed yet. Their usage is final an hour later: no transaction that
-- began before is still open then.
create or replace function close_months() returns void
language plpgsql security definer set search_path from current as $$
declare
  v_end constant date := date_trunc('month', (now() - interval '1 hour') at time zone 'UTC');
  v_month date;
begin
  perform fold_charges();
  if exists (select from closed_month where month = v_end - interval '1 month')
    or not exists (select from usage_day where day < v_end) then return; end if;
  -- A transaction that bills or frees a month meanwhile waits, and then finds the month listed.
  lock table unbilled in share row exclusive mode;
  select coalesce(max(month) + interval '1 month', (select date_trunc('month', min(day)) from usage_day)) into v_month
    from closed_month;
  while v_month < v_end loop
    insert into unbilled (kind, id, day, account_id, amount)
      select 'usage', u.account_id, last_day(v_month), u.account_id, sum(u.cost) from usage_day u
      where u.day between v_month and last_day(v_month)
        and not exists (select from billed_month b where b.account_id = u.account_id and b.month = v_month)
      group by u.account_id
      on conflict do nothing;
    insert into unbilled (kind, id, day, client_id, amount)
      select 'letters', u.client_id, last_day(v_month), u.client_id, sum(u.cost) from usage_day u
      where u.day between v_month and last_day(v_month) and u.client_id is not null
        and not exists (select from billed_letters b where b.client_id = u.client_id and b.month = v_month)
        and not exists (select from erased_client e where e.client_id = u.client_id)
      group by u.client_id
      on conflict do nothing;
    insert into closed_month (month) values (v_month);
    v_month := v_month + interval '1 month';
  end loop;
end $$;
revoke execute on function close_months() from public;
