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
