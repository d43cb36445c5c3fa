-- The people to write to about a client.

create table contact (
  id          uuid primary key,
  client_id   uuid not null references client,
  name        text not null check (length(name) between 1 and 200),
  job_title   text check (length(job_title) between 1 and 100),
  email       text check (length(email) between 3 and 254),
  phone       text check (length(phone) between 1 and 50),
  -- A language tag (BCP 47).
  language    text check (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3),
  search      tsvector not null generated always as (to_tsvector('simple',
    words(name || ' ' || coalesce(job_title, '') || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '')))) stored
);
create index on contact (client_id);
create index on contact using gin (search);
create index contact_by_change on contact (updated_at, id) where archived_at is null;

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'create trigger revised after insert or update on contact for each row execute function keep_revision()',
    'create trigger touched after insert or update on contact for each row execute function touch_client()',
    'create trigger bounded after insert or update of name on contact for each row execute function refuse_excess(''name'')',
    'alter table contact enable row level security, force row level security',
    -- The policy of client limits what a consultant sees here.
    'create policy own on contact to {consultant} using (exists (select from client where client.id = contact.client_id))',
    'create policy every on contact to {partner} using (true)',
    'create policy proved on contact for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy erased on contact for delete to {owner} using (erasure_is_due(client_id))',
    'grant select on contact to {consultant}, {partner}',
    -- Authors and times come from the transaction: no statement may set them.
    'grant insert (id, client_id, name, job_title, email, phone, language),
      update (name, job_title, email, phone, language, updated_at, updated_by, version, archived_at) on contact to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
