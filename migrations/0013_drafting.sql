-- Letters that a model drafts inside a client's record, and the instructions that the firm saves for them.

-- Whether the account is the firm's own. Only its requests may name the client that their cost is attributed to.
alter table account add column own boolean not null default false;

-- A generation for a letter. The hold, the ledger row and the stored reply have the same id. Tokens, cost and stop reason
-- are only in the ledger.
alter table letter add unique (id, client_id);
create table draft (
  id               uuid primary key,
  client_id        uuid not null references client,
  created_at       timestamptz(3) not null default record_time(),
  created_by       uuid not null default portal_person() references person,
  instructions     text not null check (length(instructions) between 1 and 20000),
  -- [{kind, id, version, title}]
  sources          jsonb not null check (jsonb_typeof(sources) = 'array'),
  model            text not null,
  subject          text not null check (length(subject) between 1 and 300),
  -- The letter to write anew, and its version when the draft started.
  rewrites         uuid,
  rewrites_version integer,
  -- When a person asked to stop.
  stop_asked_at    timestamptz(3),
  status           text not null default 'running' check (status in ('running', 'complete', 'stopped', 'failed')),
  -- The letter with the text. A new letter has the id of its draft, so that a draft cannot become two.
  letter_id        uuid,
  -- A code: why the draft failed.
  failure          text check (failure ~ '^[a-z_]{1,64}$'),
  finished_at      timestamptz(3),
  constraint draft_rewrites foreign key (rewrites, client_id) references letter (id, client_id),
  -- Deferred: a letter is marked as generated when it is inserted, because its draft names it already.
  constraint draft_letter foreign key (letter_id, client_id) references letter (id, client_id)
    deferrable initially deferred,
  constraint draft_is_valid check ((rewrites is null) = (rewrites_version is null)
    and (status = 'running') = (finished_at is null) and (status = 'failed') = (failure is not null)
    and (letter_id is null or letter_id in (id, coalesce(rewrites, id)) and status in ('complete', 'stopped')))
) with (fillfactor = 70);
create index on draft (client_id, created_at);
create index on draft (letter_id) where letter_id is not null;
-- Those that end without the instance that started them.
create index draft_open on draft (created_at) where status = 'running' or failure = 'interrupted';

create function mark_generated() returns trigger language plpgsql set search_path from current as $$
begin
  new.generated := exists (select from draft where letter_id = new.id);
  return new;
end $$;
create trigger generated before insert or update on letter for each row execute function mark_generated();

-- Instructions that the firm saves, with a default for each kind of letter.
create table letter_template (
  id           uuid primary key,
  kind         text not null check (length(kind) between 1 and 60),
  name         text not null check (length(name) between 1 and 200),
  instructions text not null check (length(instructions) between 1 and 20000),
  is_default   boolean not null default false,
  created_at   timestamptz(3) not null default record_time(),
  updated_at   timestamptz(3) not null default record_time(),
  updated_by   uuid default portal_person() references person,
  version      integer not null default 1,
  -- A removed template is hidden; its revisions remain.
  removed_at   timestamptz(3)
);
create unique index letter_template_name on letter_template (lower(kind), lower(name)) where removed_at is null;
create unique index letter_template_default on letter_template (lower(kind)) where is_default and removed_at is null;

-- Every state of every template. Written by a trigger.
create table letter_template_revision (
  template_id uuid not null references letter_template,
  version     integer not null,
  at          timestamptz(3) not null,
  person_id   uuid references person,
  removed     boolean not null,
  data        jsonb not null,
  primary key (template_id, version)
);

-- Runs as the owner: no portal role may write revisions.
create function keep_template_revision() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into letter_template_revision (template_id, version, at, person_id, removed, data)
  values (new.id, new.version, new.updated_at, portal_person(), new.removed_at is not null,
    jsonb_build_object('kind', new.kind, 'name', new.name, 'instructions', new.instructions, 'is_default', new.is_default));
  return null;
end $$;
create trigger revised after insert or update on letter_template for each row execute function keep_template_revision();

-- What a client has cost, by month and by letter, without reading the usage of other clients.
create index usage_day_by_client on usage_day (client_id, day) where client_id is not null;

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'alter table draft enable row level security',
    'alter table draft force row level security',
    'create policy own on draft to {consultant}
      using (exists (select from client where client.id = draft.client_id))',
    'create policy every on draft to {partner} using (true)',
    -- For recovery, and for the functions that end a draft.
    'create policy owned on draft to {owner} using (true)',
    'grant select on draft to {consultant}, {partner}',
    -- Author, status, letter and failure are written by functions, and by nothing else.
    'grant insert (id, client_id, instructions, sources, model, subject, rewrites, rewrites_version),
      update (stop_asked_at) on draft to {consultant}, {partner}',
    -- The charges of a client are for those who may see the client. The owner, which runs the till, is exempt.
    'alter table ledger enable row level security',
    'create policy of_client on ledger for select to {consultant}, {partner}
      using (exists (select from client where client.id = ledger.client_id))',
    'grant select (request_id, person_id, model, client_id, input_tokens, output_tokens, cost, stop_reason)
      on ledger to {consultant}, {partner}',
    'alter table usage_day enable row level security',
    'create policy of_client on usage_day for select to {consultant}, {partner}
      using (exists (select from client where client.id = usage_day.client_id))',
    'grant select (day, key_id, person_id, client_id, requests, input_tokens, output_tokens, cost)
      on usage_day to {consultant}, {partner}',
    'grant select on letter_template, letter_template_revision to {consultant}, {partner}',
    'grant insert (id, kind, name, instructions, is_default),
      update (kind, name, instructions, is_default, updated_at, updated_by, version, removed_at)
      on letter_template to {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
