-- Bills clients for time, expenses and the cost of their letters, and keeps a list of what is not billed yet.

-- For how many units the price of a line is. Minutes have the price of an hour, because the price of a minute is often no
-- decimal number. The price of a lump sum has twelve decimals.
create function price_base(p_unit text) returns numeric language sql immutable parallel safe
  return case p_unit when 'minute' then 60 when 'lump_sum' then 1000000 else 1 end;

alter table invoice_line
  -- The time entry or the expense that the line bills, and its version, which is frozen meanwhile.
  add column entry_id uuid,
  add column entry_version integer,
  -- The month (UTC) of letters, by its first day, and the mark-up on their cost in hundredths of a per cent.
  add column month date check (extract(day from month) = 1),
  add column markup integer check (markup between 0 and 100000),
  drop constraint invoice_line_source_check,
  drop constraint invoice_line_unit_check,
  drop constraint line_is_valid,
  add constraint invoice_line_source_check check (source in ('usage', 'fee', 'credit', 'time', 'expense', 'letters')),
  add constraint invoice_line_unit_check
    check (unit in ('hour', 'day', 'month', 'piece', 'kilometre', 'million_tokens', 'minute', 'lump_sum')),
  add constraint line_is_valid check (exact = half_even(quantity * unit_price, price_base(unit))
    and (tax_category = 'S') = (tax_rate > 0) and (tax_category in ('S', 'Z')) = (tax_reason is null)
    and (source = 'usage') = (model is not null) and (source = 'usage') = (direction is not null)
    and (source = 'credit') = (credits_position is not null)
    and (source in ('time', 'expense')) = (entry_id is not null) and (entry_id is null) = (entry_version is null)
    and (source = 'letters') = (month is not null) and (month is null) = (markup is null));

-- The entries, and the months of clients' letters, that are billed: on an invoice that is neither void nor credited in full.
-- Written by triggers.
create table billed_entry (
  entry_id   uuid primary key,
  invoice_id uuid not null references invoice
);
create index on billed_entry (invoice_id);
create table billed_letters (
  client_id  uuid not null references client,
  month      date not null,
  invoice_id uuid not null references invoice,
  primary key (client_id, month)
);
create index on billed_letters (invoice_id);

-- What no invoice bills: months of accounts (`usage`) and of clients' letters once they are over, and entries. It follows from
-- the other tables, so that a page need not read them. `tollgate verify` compares them.
create table unbilled (
  kind       text not null check (kind in ('usage', 'letters', 'time', 'expense')),
  -- The account, the client or the entry.
  id         uuid not null,
  -- The last day of the month, or the day of the entry.
  day        date not null,
  account_id uuid,
  client_id  uuid,
  -- Without mark-up.
  amount     amount not null,
  primary key (id, day),
  check ((kind = 'usage') = (client_id is null) and (client_id is null) <> (account_id is null))
);
create index on unbilled (client_id) where client_id is not null;

-- The months (UTC) whose usage is in the table above, unless it is billed.
create table closed_month (
  month date primary key check (extract(day from month) = 1)
);

create function last_day(p_month date) returns date language sql immutable parallel safe
  return (p_month + interval '1 month' - interval '1 day')::date;

-- Lists what was used in the months that are over and not closed yet. Their usage is final an hour later: no transaction that
-- began before is still open then.
create function close_months() returns void
language plpgsql security definer set search_path from current as $$
declare
  v_end constant date := date_trunc('month', (now() - interval '1 hour') at time zone 'UTC');
  v_month date;
begin
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

-- Lists an entry if it is to be billed. Only with `tollgate.proof` does the owner see records.
create function list_entry(p_entry uuid) returns void
language plpgsql security definer set search_path from current as $$
declare
  v_proof constant text := coalesce(current_setting('tollgate.proof', true), '');
begin
  perform set_config('tollgate.proof', 'on', true);
  insert into unbilled (kind, id, day, client_id, amount)
    select e.kind, e.id, e.date, e.client_id, e.amount
    from (select 'time' as kind, id, date, client_id, half_even(minutes * rate, 60) as amount from time_entry
        where id = p_entry and billable and archived_at is null
      union all
      select 'expense', id, date, client_id, amount from expense where id = p_entry and billable and archived_at is null) e
    where not exists (select from billed_entry b where b.entry_id = e.id)
    on conflict do nothing;
  perform set_config('tollgate.proof', v_proof, true);
end $$;
revoke execute on function list_entry(uuid) from public;

-- An entry that is billed stays as it is, unless its client is erased.
create function keep_entry() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if exists (select from billed_entry where entry_id = old.id) and not (tg_op = 'DELETE' and erasure_is_due(old.client_id)) then
    raise exception 'the entry is billed' using errcode = 'TG006';
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;

create function list_changed_entry() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op <> 'INSERT' then delete from unbilled where id = old.id; end if;
  if tg_op <> 'DELETE' then perform list_entry(new.id); end if;
  return null;
end $$;

-- A line bills an entry as it is. The lock keeps it so until the line is committed, and then the trigger above does.
create function check_billed_entry() returns trigger language plpgsql set search_path from current as $$
begin
  if new.source = 'time' then
    perform from time_entry e join invoice i on i.id = new.invoice_id and i.client_id = e.client_id and i.kind = 'invoice'
      where e.id = new.entry_id and e.version = new.entry_version and e.billable and e.archived_at is null
        and new.unit = 'minute' and new.quantity = e.minutes * 1000000 and new.unit_price * 1000000 = e.rate
      for no key update of e;
  else
    perform from expense e join invoice i on i.id = new.invoice_id and i.client_id = e.client_id and i.kind = 'invoice'
      where e.id = new.entry_id and e.version = new.entry_version and e.billable and e.archived_at is null
        and new.exact = e.amount
      for no key update of e;
  end if;
  if not found then raise exception 'the entry is not what it was' using errcode = 'TG006'; end if;
  return new;
end $$;
create trigger of_entry before insert on invoice_line for each row
  when (new.source in ('time', 'expense')) execute function check_billed_entry();

-- Runs as the owner: no portal role may write these rows.
create function mark_billed_line() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'DELETE' then
    delete from billed_entry where entry_id = old.entry_id and invoice_id = old.invoice_id;
    delete from billed_letters b using invoice i
      where i.id = old.invoice_id and b.client_id = i.client_id and b.month = old.month and b.invoice_id = i.id;
  elsif new.entry_id is not null then
    insert into billed_entry (entry_id, invoice_id) values (new.entry_id, new.invoice_id);
  else
    insert into billed_letters (client_id, month, invoice_id)
      select client_id, new.month, id from invoice where id = new.invoice_id;
  end if;
  return null;
end $$;
create trigger billed after insert on invoice_line for each row
  when (new.source in ('time', 'expense', 'letters')) execute function mark_billed_line();
create trigger unbilled after delete on invoice_line for each row
  when (old.source in ('time', 'expense', 'letters')) execute function mark_billed_line();

-- What is billed leaves the list, and what is free again returns to it.
create function list_billed_entry() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    delete from unbilled where id = new.entry_id;
  else
    perform list_entry(old.entry_id);
  end if;
  return null;
end $$;
create trigger listed after insert or delete on billed_entry for each row execute function list_billed_entry();

create function list_billed_letters() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    delete from unbilled where id = new.client_id and day = last_day(new.month);
  else
    insert into unbilled (kind, id, day, client_id, amount)
      select 'letters', old.client_id, last_day(old.month), old.client_id, sum(cost) from usage_day
      where client_id = old.client_id and day between old.month and last_day(old.month)
        and not exists (select from erased_client e where e.client_id = old.client_id)
      having count(*) > 0
      on conflict do nothing;
  end if;
  return null;
end $$;
create trigger listed after insert or delete on billed_letters for each row execute function list_billed_letters();

create function list_billed_month() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  -- Before the statement below takes its snapshot: see close_months().
  lock table unbilled in row exclusive mode;
  if tg_op = 'INSERT' then
    delete from unbilled where id = new.account_id and day = last_day(new.month);
  else
    insert into unbilled (kind, id, day, account_id, amount)
      select 'usage', old.account_id, last_day(old.month), old.account_id, sum(cost) from usage_day
      where account_id = old.account_id and day between old.month and last_day(old.month)
      having count(*) > 0
      on conflict do nothing;
  end if;
  return null;
end $$;
create trigger listed after insert or delete on billed_month for each row execute function list_billed_month();

create function keep_billed() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'DELETE' and not exists (
    select from invoice i join invoice_line l on l.invoice_id = i.id
    where i.id = old.invoice_id and invoice_bills(i)
      and case tg_table_name when 'billed_entry' then l.entry_id = (to_jsonb(old) ->> 'entry_id')::uuid
        else l.month = (to_jsonb(old) ->> 'month')::date end) then
    return old;
  end if;
  raise exception 'it is billed until its invoice is void or credited in full' using errcode = 'insufficient_privilege';
end $$;

create function free_void_invoice() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  perform free_billed(new.id);
  return null;
end $$;
drop trigger unbilled on invoice;
create trigger unbilled after update on invoice for each row
  when (new.state = 'void' and old.state <> 'void') execute function free_void_invoice();

do $$
declare
  v_table text;
  v_statement text;
begin
  foreach v_table in array array['time_entry', 'expense'] loop
    execute format('create trigger kept before update or delete on %I for each row execute function keep_entry()', v_table);
    execute format('create trigger listed after insert or update or delete on %I for each row
      execute function list_changed_entry()', v_table);
  end loop;
  foreach v_table in array array['billed_entry', 'billed_letters'] loop
    execute format('create trigger kept before update or delete on %I for each row execute function keep_billed()', v_table);
    execute format('create trigger not_emptied before truncate on %I for each statement execute function refuse_change()', v_table);
  end loop;
  foreach v_table in array array['billed_entry', 'billed_letters', 'unbilled'] loop
    execute format('alter table %I enable row level security', v_table);
    execute format('alter table %I force row level security', v_table);
    execute format('create policy every on %I to %s using (true)', v_table, portal_role('partner'));
    execute format('create policy owned on %I to %I using (true)', v_table, current_user);
    execute format('grant select on %I to %s', v_table, portal_role('partner'));
  end loop;
  foreach v_statement in array array[
    'grant execute on function close_months() to {partner}',
    -- Whether an account is the firm's own: then it is not billed.
    'grant select (own) on account to {partner}']
  loop
    execute replace(v_statement, '{partner}', portal_role('partner'));
  end loop;
  -- What was entered before this version billed it.
  perform set_config('tollgate.proof', 'on', true);
  perform list_entry(id) from time_entry;
  perform list_entry(id) from expense;
  perform set_config('tollgate.proof', '', true);
end $$;

-- All that was used before, here rather than in the first request for the page.
select close_months();
