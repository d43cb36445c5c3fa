-- Tasks on the record: docs/decisions/0034-tasks.md.

create table task (
  id          uuid primary key,
  client_id   uuid not null references client,
  title       text not null check (length(title) between 1 and 300),
  due         date,
  priority    text not null default 'normal' check (priority in ('high', 'normal', 'low')),
  status      text not null default 'open' check (status in ('open', 'done')),
  -- The partner who does it. Null: the consultant of the client.
  owner_id    uuid references person,
  -- What on the record it concerns. Null: the client.
  about_noun  text check (about_noun in ('note', 'dispute', 'letter', 'document', 'invoice')),
  about_id    uuid,
  done_at     timestamptz(3),
  done_by     uuid references person,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3),
  search      tsvector not null generated always as (to_tsvector('simple', words(title))) stored,
  check ((about_noun is null) = (about_id is null)),
  check ((status = 'done') = (done_at is not null))
);
create index on task (client_id);
create index on task using gin (search);
create index task_by_change on task (updated_at, id) where archived_at is null;
create index task_by_day on task (due, id) where archived_at is null and status = 'open';

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'create trigger revised after insert or update on task for each row execute function keep_revision()',
    'create trigger touched after insert or update on task for each row execute function touch_client()',
    'create trigger bounded after insert or update of title on task for each row execute function refuse_excess(''title'')',
    'alter table task enable row level security, force row level security',
    -- The policy of client limits what a consultant sees here.
    'create policy own on task to {consultant} using (exists (select from client where client.id = task.client_id))',
    'create policy every on task to {partner} using (true)',
    'create policy proved on task for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy erased on task for delete to {owner} using (erasure_is_due(client_id))',
    'grant select on task to {consultant}, {partner}',
    -- Authors and times come from the transaction: no statement may set them.
    'grant insert (id, client_id, title, due, priority, status, owner_id, about_noun, about_id),
      update (title, due, priority, status, owner_id, about_noun, about_id, updated_at, updated_by, version, archived_at)
      on task to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
