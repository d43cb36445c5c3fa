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

-- Locks a draft that has not ended, and returns what the till knows of it. An interrupted draft was given up by an
-- instance that did not see it run; if it was charged after all, it can still end. No row: it has ended.
create function open_draft(p_draft uuid)
returns table (charged boolean, stop_reason text, reply text)
language plpgsql security definer set search_path from current as $$
begin
  perform from draft d where d.id = p_draft and (d.status = 'running' or d.failure = 'interrupted') for update;
  if not found then return; end if;
  return query
  select l.request_id is not null, l.stop_reason, i.body::jsonb ->> 'output_text'
  from (values (p_draft)) v (id)
    left join ledger l on l.request_id = v.id
    left join idempotency i on i.account_id = l.account_id and i.key = v.id::text and i.hold_id = v.id;
end $$;

-- Ends a draft. It is complete, or has a letter, only if it was charged. Returns whether it ended now.
create function end_draft(p_draft uuid, p_status text, p_letter uuid, p_failure text) returns boolean
language plpgsql security definer set search_path from current as $$
begin
  update draft d set status = p_status, letter_id = p_letter, failure = p_failure, finished_at = record_time()
  where d.id = p_draft and (d.status = 'running' or d.failure = 'interrupted')
    and (p_status = 'failed' or p_status = 'stopped' and p_letter is null
      or exists (select from ledger l where l.request_id = p_draft));
  return found;
end $$;

-- Puts the text of a charged draft on the record, as the person of the transaction: row-level security decides whether
-- they may. The text becomes a new letter, or replaces that of the letter to write anew if this is still a draft of the
-- same version. Outcomes: kept; ended before; uncharged; no_text, if there is no stored reply; archived; and out_of_reach.
create function keep_draft(p_draft uuid, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  d draft;
  v_client text;
  v_reply record;
  v_status text;
  v_letter uuid;
  v_version integer;
begin
  select * into d from draft where id = p_draft and created_by = portal_person()
    and exists (select from person where id = created_by and status = 'active');
  select c.status into v_client from client c where c.id = d.client_id and c.deleted_at is null;
  if v_client is null then return 'out_of_reach'; end if;
  if v_client <> 'active' then return 'archived'; end if;
  select * into v_reply from open_draft(p_draft);
  if not found then return 'ended'; end if;
  if not v_reply.charged then return 'uncharged'; end if;
  if v_reply.reply is null then return 'no_text'; end if;
  v_status := case v_reply.stop_reason when 'cancelled' then 'stopped' else 'complete' end;
  if v_reply.reply !~ '\S' then
    perform end_draft(p_draft, v_status, null, null);
    return 'kept';
  end if;

  select id, version + 1 into v_letter, v_version from letter
    where id = d.rewrites and version = d.rewrites_version and status = 'draft' and archived_at is null
    for no key update;
  perform end_draft(p_draft, v_status, coalesce(v_letter, p_draft), null);
  if v_letter is not null then
    update letter set subject = d.subject, body = v_reply.reply, version = v_version, updated_at = record_time(),
      updated_by = portal_person() where id = v_letter;
  else
    v_letter := p_draft;
    v_version := 1;
    insert into letter (id, client_id, subject, body) values (v_letter, d.client_id, d.subject, v_reply.reply);
  end if;
  insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    values ('letter_drafted', 'allowed', d.client_id, 'letter', v_letter, p_request, p_address,
      jsonb_build_object('version', v_version::text, 'fields', 'subject body', 'draft', p_draft::text));
  return 'kept';
end $$;

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
    -- Author, status, letter and failure are written by the functions above, and by nothing else.
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
