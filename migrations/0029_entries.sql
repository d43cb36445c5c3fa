-- Time and expenses that people enter on a client's record, to be billed. Who created a time entry did the work.

create table time_entry (
  id          uuid primary key,
  client_id   uuid not null references client,
  date        date not null,
  minutes     integer not null check (minutes between 1 and 1440),
  -- For an hour. Like every price on an invoice, it has six decimals of the currency unit.
  rate        amount not null check (rate between 0 and 1000000000000000000000 and rate % 1000000 = 0),
  text        text not null check (length(text) between 1 and 280),
  billable    boolean not null default true,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3)
);
create index on time_entry (client_id, date, id);

create table expense (
  id          uuid primary key,
  client_id   uuid not null references client,
  date        date not null,
  amount      amount not null check (amount between 1000000 and 1000000000000000000000000 and amount % 1000000 = 0),
  text        text not null check (length(text) between 1 and 280),
  -- The id of a tax of the configuration. Null: its first when the expense is billed.
  tax         text check (length(tax) between 1 and 100),
  billable    boolean not null default true,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3)
);
create index on expense (client_id, date, id);

-- As in 0017_search.sql, and with rates.
create or replace function keep_revision() returns trigger language plpgsql security definer
set search_path from current set timezone = 'UTC' as $$
declare
  v_all jsonb := to_jsonb(new);
  v_data jsonb := v_all - array['id', 'client_id', 'version', 'created_at', 'created_by', 'updated_at', 'updated_by',
    'changed_at', 'archived_at', 'deleted_at', 'search', 'sort_key', 'reference_key', 'spelling'];
  v_money text;
begin
  -- As text, because JSON numbers can lose digits.
  foreach v_money in array array['amount', 'cost', 'rate'] loop
    if v_data ? v_money then v_data := v_data || jsonb_build_object(v_money, v_all ->> v_money); end if;
  end loop;
  insert into revision (noun, noun_id, version, client_id, at, person_id, archived, data)
  values (tg_table_name, new.id, new.version, coalesce((v_all ->> 'client_id')::uuid, new.id), new.updated_at,
    portal_person(), (v_all ->> 'archived_at') is not null or (v_all ->> 'deleted_at') is not null, v_data);
  return null;
end $$;

-- As in 0025_client_data.sql, and with time and expenses.
create or replace function erase_client(p_client uuid, p_wait interval) returns text language plpgsql set search_path from current as $$
declare
  v_client client;
  v_erasure erasure;
  v_sealed bigint;
  v_nouns uuid[];
  v_revisions bigint;
  v_remains bytea;
begin
  perform set_config('tollgate.proof', 'on', true);
  -- Everything that is added to a record waits for this lock, and then fails.
  select * into v_client from client where id = p_client for update;
  if not found then return 'not_due'; end if;
  select * into v_erasure from erasure
    where client_id = p_client and withdrawn_at is null and due_at <= clock_timestamp()
      and scheduled_at + p_wait <= clock_timestamp()
      -- The rule is about clients that are archived or deleted.
      and (scheduled_by is not null or v_client.status = 'archived' or v_client.deleted_at is not null)
    for update;
  if not found then return 'not_due'; end if;
  if exists (select from draft where client_id = p_client and status = 'running')
    or exists (select from hold where client_id = p_client) then
    update draft set stop_asked_at = clock_timestamp()
      where client_id = p_client and status = 'running' and stop_asked_at is null;
    return 'busy';
  end if;

  -- Sealing stops until this ends, so a revision is either sealed with its contents or without.
  select upto into v_sealed from seal_chain where name = 'revision' for update;
  v_nouns := array(select id from note where client_id = p_client union all
    select id from dispute where client_id = p_client union all
    select id from letter where client_id = p_client union all
    select id from time_entry where client_id = p_client union all
    select id from expense where client_id = p_client union all select p_client);
  with sealed as materialized (
    select r.number, d.digest
    from revision r
      cross join lateral (select columns from seal where chain = 'revision' and upto >= r.number order by upto limit 1) s
      cross join lateral row_digests('revision', 'number', s.columns, r.number - 1, r.number) d
    where r.noun_id = any (v_nouns) and r.number <= v_sealed)
  update revision r set data = '{}', erased = (select digest from sealed where sealed.number = r.number)
    where r.noun_id = any (v_nouns);

  -- Replies that are stored for repeated requests. A scalar subquery, because a join could read the whole ledger.
  delete from idempotency i
    where (select l.client_id from ledger l where l.request_id = i.hold_id limit 1) = p_client;
  delete from draft where client_id = p_client;
  delete from letter where client_id = p_client;
  delete from dispute where client_id = p_client;
  delete from note where client_id = p_client;
  delete from time_entry where client_id = p_client;
  delete from expense where client_id = p_client;

  perform from invoice where client_id = p_client and state <> 'issued' for update;
  delete from invoice_line using invoice i
    where i.id = invoice_line.invoice_id and i.client_id = p_client and i.state <> 'issued';
  update invoice set state = 'void', note = '', buyer_name = null, buyer_address = null, buyer_tax_number = null, net = 0,
    tax = 0, gross = 0, taxes = '[]', version = version + 1, updated_at = record_time(), updated_by = null
    where client_id = p_client and state <> 'issued';

  select count(*), sha256(string_agg(remains_of(r), ''::bytea order by r.number)) into v_revisions, v_remains
    from revision r where r.noun_id = any (v_nouns);
  update client set name = 'Erased client', reference = null, email = null, address = null, version = version + 1,
    updated_at = record_time(), deleted_at = coalesce(deleted_at, record_time()) where id = p_client;
  insert into erased_client (client_id, reason, scheduled_by, scheduled_at, revisions, remains)
    values (p_client, v_erasure.reason, v_erasure.scheduled_by, v_erasure.scheduled_at, v_revisions, v_remains);
  insert into audit (action, outcome, actor, client_id, noun, noun_id)
    values ('client_erased', 'allowed', 'service', p_client, 'client', p_client);
  delete from erasure where client_id = p_client;
  return 'erased';
end $$;

do $$
declare
  v_table text;
  v_statement text;
begin
  foreach v_table in array array['time_entry', 'expense'] loop
    foreach v_statement in array array[
      'create trigger revised after insert or update on {table} for each row execute function keep_revision()',
      'create trigger touched after insert or update on {table} for each row execute function touch_client()',
      'alter table {table} enable row level security',
      'alter table {table} force row level security',
      -- The policy of client limits what a consultant sees here.
      'create policy own on {table} to {consultant} using (exists (select from client where client.id = {table}.client_id))',
      'create policy every on {table} to {partner} using (true)',
      'create policy proved on {table} for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
      'create policy erased on {table} for delete to {owner} using (erasure_is_due(client_id))',
      'grant select on {table} to {consultant}, {partner}',
      'grant update (updated_at, updated_by, version, archived_at) on {table} to {consultant}, {partner}']
    loop
      execute replace(replace(replace(replace(v_statement, '{table}', v_table), '{consultant}', portal_role('consultant')),
        '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
    end loop;
  end loop;
  -- Authors and times come from the transaction: no statement may set them.
  foreach v_statement in array array[
    'grant insert (id, client_id, date, minutes, rate, text, billable), update (date, minutes, rate, text, billable)
      on time_entry to {roles}',
    'grant insert (id, client_id, date, amount, text, tax, billable), update (date, amount, text, tax, billable)
      on expense to {roles}']
  loop
    execute replace(v_statement, '{roles}', portal_role('consultant') || ', ' || portal_role('partner'));
  end loop;
end $$;
