-- A running timer of each person: docs/decisions/0040-timer.md.

create table timer (
  -- The key: a person has one timer at a time.
  person_id  uuid primary key default portal_person() references person on delete cascade,
  -- The idempotency key of the time entry that it becomes.
  id         uuid not null unique,
  client_id  uuid not null references client,
  -- What the entry will say, unless the person writes something else.
  text       text not null default '' check (length(text) <= 280),
  started_at timestamptz(3) not null default record_time(),
  -- Null while it runs.
  stopped_at timestamptz(3)
);
create index on timer (client_id);

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'alter table timer enable row level security, force row level security',
    -- The policy of client limits what a consultant sees here.
    'create policy own on timer for select to {consultant} using (exists (select from client where client.id = timer.client_id))',
    'create policy every on timer for select to {partner} using (true)',
    -- People start, stop and remove their own, for clients that they see.
    'create policy started on timer for insert to {consultant}, {partner}
      with check (person_id = (select portal_person()) and exists (select from client where client.id = timer.client_id))',
    'create policy stopped on timer for update to {consultant}, {partner} using (person_id = (select portal_person()))',
    'create policy removed on timer for delete to {consultant}, {partner} using (person_id = (select portal_person()))',
    'create policy proved on timer for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy erased on timer for delete to {owner} using (true)',
    'grant select, delete on timer to {consultant}, {partner}',
    'grant insert (id, client_id, text), update (stopped_at) on timer to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
