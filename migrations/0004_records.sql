-- Client records, the row-level security that protects them, and the audit log.
--
-- Every function either sets its search_path with pg_temp last, or has a body whose names were resolved when it was
-- created (`return …`): otherwise a temporary table could stand in for a table that the function works on.
--
-- The service reads and changes records through a login of its own, `tollgate_portal_…`, which has no permissions.
-- Each transaction sets the role of its person (`tollgate_consultant_…`, `tollgate_partner_…`) and their id
-- (`tollgate.person`) until its end. Row-level security depends only on these two, not on the statement.

-- Roles belong to the whole server. A suffix keeps the roles of its databases apart, so that no Tollgate can reach the
-- records of another or set its password. The suffix is stored here, so that a copy of the database has it too.
do $$
begin
  execute format($function$
    create function portal_role(p_for text) returns text language sql immutable parallel safe
      return 'tollgate_' || p_for || '_%s'
  $function$, left(md5(concat_ws(' ', current_database(), current_schema(),
    (select oid from pg_database where datname = current_database()))), 8));
end $$;

-- Executes statements with the placeholders {consultant}, {partner} and {owner}.
create function with_roles(p_statements text) returns void language plpgsql as $$
begin
  execute replace(replace(replace(p_statements, '{consultant}', portal_role('consultant')),
    '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
end $$;

do $$
declare
  v_portal text := portal_role('portal');
  v_statement text;
  v_role text;
begin
  foreach v_role in array array['consultant', 'partner', 'portal'] loop
    continue when exists (select from pg_roles where rolname = portal_role(v_role));
    v_statement := format('create role %I nologin %s', portal_role(v_role), case v_role when 'portal' then 'noinherit' end);
    execute v_statement;
  end loop;
  foreach v_role in array array[portal_role('consultant'), portal_role('partner')] loop
    continue when exists (select from pg_auth_members where roleid = v_role::regrole and member = v_portal::regrole);
    execute format('grant %I to %I', v_role, v_portal);
  end loop;
exception
  when insufficient_privilege then
    raise exception 'the user % may not create roles. Have an administrator run "create role %; create role %; create role %; grant %, % to %; grant % to % with admin option", then start again',
      current_user, portal_role('consultant'), portal_role('partner'), v_portal || ' noinherit', portal_role('consultant'),
      portal_role('partner'), v_portal, v_portal, quote_ident(current_user)
      using errcode = 'insufficient_privilege';
end $$;
select with_roles(format('grant usage on schema %I to {consultant}, {partner}', current_schema()));

-- The person on whose behalf this transaction runs; null for every other actor, and outside of the portal.
create function portal_person() returns uuid language sql stable parallel safe
  return nullif(current_setting('tollgate.person', true), '')::uuid;

-- The kind of actor on whose behalf this transaction runs; null outside of the portal.
create function portal_actor() returns text language sql stable parallel safe
  return case when portal_person() is null then nullif(current_setting('tollgate.actor', true), '') else 'person' end;

-- Identifies an actor that is not a person: the operating-system user of a command, or the id of an API key.
create function portal_actor_name() returns text language sql stable parallel safe
  return case when portal_person() is null then nullif(current_setting('tollgate.actor_name', true), '') end;

-- The demo's samples are entered with past dates (`tollgate.time`). After the first sign-in this has no effect: every
-- time in records and in the log is the time of this clock.
create function sample_time() returns timestamptz language plpgsql security definer set search_path from current as $$
begin
  if exists (select from person where last_signed_in_at is not null) then
    raise exception 'only samples are entered with a time of their own, before anybody signs in'
      using errcode = 'insufficient_privilege';
  end if;
  return least(current_setting('tollgate.time')::timestamptz, clock_timestamp());
end $$;
create function record_time() returns timestamptz language sql volatile
  return case when coalesce(current_setting('tollgate.time', true), '') = '' then clock_timestamp() else sample_time() end;

-- Normalises text for search and sorting: words in lower case, without accents, separated by single spaces.
create function words(p_text text) returns text language sql immutable parallel safe
  return trim(regexp_replace(regexp_replace(lower(normalize(p_text, nfkd)), '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+', ' ', 'g'));

-- A query for every word of the text as a prefix. Matches nothing if the text has no word.
create function beginnings(p_text text) returns tsquery language sql immutable parallel safe
  return to_tsquery('simple', replace(regexp_replace(words(p_text), '(\S+)', '\1:*', 'g'), ' ', ' & '));

create table client (
  id            uuid primary key,
  name          text not null check (length(name) between 1 and 200),
  reference     text check (length(reference) between 1 and 100),
  email         text check (length(email) between 1 and 254),
  consultant_id uuid not null references person,
  status        text not null default 'active' check (status in ('active', 'archived')),
  created_at    timestamptz(3) not null default record_time(),
  updated_at    timestamptz(3) not null default record_time(),
  version       integer not null default 1,
  -- When the client or one of its notes, disputes or letters last changed. Set by triggers.
  changed_at    timestamptz(3) not null default record_time(),
  -- A deleted record is hidden; its revisions remain.
  deleted_at    timestamptz(3),
  -- Limited, because normalising can make eighteen characters of one, and cursors contain this key.
  sort_key      text not null generated always as (left(words(name), 200)) stored,
  reference_key text not null generated always as (lower(coalesce(reference, ''))) stored,
  search        tsvector not null generated always as
    (to_tsvector('simple', words(name || ' ' || coalesce(reference, '') || ' ' || coalesce(email, '')))) stored
);
-- Per consultant, so that a conflict does not reveal the references of another consultant.
create unique index client_reference on client (consultant_id, reference_key)
  where reference is not null and deleted_at is null;
create index on client (consultant_id, sort_key, id);
create index on client (consultant_id, changed_at, id);
create index on client (sort_key, id);
create index on client (changed_at, id);
create index on client (reference_key, id);
create index on client using gin (search);

-- Ignores the time that a statement gives: never ahead of the clock, never before the previous change.
create function stamp_change() returns trigger language plpgsql set search_path from current as $$
begin
  new.changed_at := greatest(old.changed_at, record_time());
  return new;
end $$;
create trigger stamped before update on client for each row execute function stamp_change();

create table note (
  id           uuid primary key,
  client_id    uuid not null references client,
  date         date not null,
  participants text[] not null default '{}',
  text         text not null,
  created_at   timestamptz(3) not null default record_time(),
  created_by   uuid default portal_person() references person,
  updated_at   timestamptz(3) not null default record_time(),
  updated_by   uuid default portal_person() references person,
  version      integer not null default 1,
  archived_at  timestamptz(3),
  search       tsvector not null generated always as (to_tsvector('simple', left(words(text), 100000))) stored
);
create index on note (client_id, date);
create index on note using gin (search);

create table dispute (
  id          uuid primary key,
  client_id   uuid not null references client,
  invoice     text not null check (length(invoice) between 1 and 100),
  amount      amount not null check (amount >= 0),
  position    text not null default '',
  status      text not null default 'open' check (status in ('open', 'settled', 'withdrawn')),
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3),
  search      tsvector not null generated always as
    (to_tsvector('simple', left(words(invoice || ' ' || position), 100000))) stored
);
create index on dispute (client_id, created_at);
create index on dispute using gin (search);

create table letter (
  id          uuid primary key,
  client_id   uuid not null references client,
  subject     text not null check (length(subject) between 1 and 300),
  body        text not null default '',
  status      text not null default 'draft' check (status in ('draft', 'approved', 'sent')),
  generated   boolean not null default false,
  -- The cost of the draft, if a model wrote it.
  cost        amount check (cost >= 0),
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3),
  search      tsvector not null generated always as
    (to_tsvector('simple', left(words(subject || ' ' || body), 100000))) stored
);
create index on letter (client_id, created_at);
create index on letter using gin (search);

-- Writing an item updates its client, as the same person in the same transaction. The row lock serialises writers. If the
-- client was assigned to someone else or deleted while a writer waited, row-level security rejects the item.
create function touch_client() returns trigger language plpgsql set search_path from current as $$
begin
  update client set changed_at = default where id = new.client_id and deleted_at is null;
  if not found then
    raise exception 'the client is out of reach by now' using errcode = 'TG003';
  end if;
  return null;
end $$;

-- Every state of every record. Written by triggers, so that no edit can skip it.
create table revision (
  noun      text not null,
  noun_id   uuid not null,
  version   integer not null,
  client_id uuid not null references client,
  at        timestamptz(3) not null,
  person_id uuid references person,
  archived  boolean not null,
  data      jsonb not null,
  primary key (noun_id, version)
);

-- Runs as the owner: no portal role may write revisions.
create function keep_revision() returns trigger language plpgsql security definer set search_path from current as $$
declare
  v_all jsonb := to_jsonb(new);
  v_data jsonb := v_all - array['id', 'client_id', 'version', 'created_at', 'created_by', 'updated_at', 'updated_by',
    'changed_at', 'archived_at', 'deleted_at', 'search', 'sort_key', 'reference_key'];
  v_money text;
begin
  -- As text, because JSON numbers can lose digits.
  foreach v_money in array array['amount', 'cost'] loop
    if v_data ? v_money then v_data := v_data || jsonb_build_object(v_money, v_all ->> v_money); end if;
  end loop;
  insert into revision (noun, noun_id, version, client_id, at, person_id, archived, data)
  values (tg_table_name, new.id, new.version, coalesce((v_all ->> 'client_id')::uuid, new.id), new.updated_at,
    portal_person(), (v_all ->> 'archived_at') is not null or (v_all ->> 'deleted_at') is not null, v_data);
  return null;
end $$;

-- Records are read whole, so the total size of the items of each kind is limited.
create function refuse_excess() returns trigger language plpgsql set search_path from current as $$
declare
  v_items bigint;
  v_bytes bigint;
begin
  execute format('select count(*), sum(octet_length(%I)) from %I where client_id = $1 and archived_at is null',
    tg_argv[0], tg_table_name) into v_items, v_bytes using new.client_id;
  if v_items > 1000 or v_bytes > 5000000 then
    raise exception 'the client has all that a record may hold' using errcode = 'TG002';
  end if;
  return null;
end $$;
create trigger bounded after insert or update of text on note for each row execute function refuse_excess('text');
create trigger bounded after insert or update of position on dispute for each row
  execute function refuse_excess('position');
create trigger bounded after insert or update of body on letter for each row execute function refuse_excess('body');

-- The audit log. A transaction has its id before its rows draw their numbers, so that no row can appear among sealed
-- rows: see 0007_seals.sql.
create table audit (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default record_time(),
  action     text not null check (action ~ '^[a-z_]{1,64}$'),
  outcome    text not null check (outcome in ('allowed', 'refused')),
  -- Default for the portal's statements: the actor of the transaction.
  actor      text not null default portal_actor()
    check (actor in ('person', 'command', 'key', 'service', 'visitor')),
  actor_name text default portal_actor_name(),
  person_id  uuid default portal_person(),
  client_id  uuid,
  noun       text,
  noun_id    uuid,
  request_id text,
  address    text,
  details    jsonb,
  check ((actor = 'person') = (person_id is not null)),
  check ((actor in ('command', 'key')) = (actor_name is not null))
);
create index on audit (client_id, id) where client_id is not null;
create index on audit (person_id, id) where person_id is not null;

create function take_transaction_id() returns trigger language plpgsql set search_path from current as $$
begin
  perform pg_current_xact_id();
  return null;
end $$;
create trigger numbered_in_order before insert on audit for each statement execute function take_transaction_id();

create function refuse_change() returns trigger language plpgsql set search_path from current as $$
begin
  raise exception 'rows of % are neither changed nor taken away', tg_table_name using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on audit for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on revision for each statement execute function refuse_change();

-- Whether a person is a partner now. Every transaction with a partner's role calls it, because a role can change during a
-- long download. Null is the operator. It is not in the policies, where it would prevent searches from using indexes.
create function is_partner(p_person uuid) returns boolean
language sql stable security definer set search_path from current as $$
  select p_person is null or exists (select from person where id = p_person and role = 'partner' and status = 'active')
$$;

-- FORCE applies the policies to the owner of the tables too, so that a statement outside of the portal sees no rows.
alter table client enable row level security;
alter table client force row level security;
select with_roles($$
  create policy own on client to {consultant}
    using (consultant_id = (select portal_person()) and deleted_at is null);
  create policy every on client to {partner} using (true);
  grant select on client to {consultant}, {partner};
  grant insert (id, name, reference, email, consultant_id) on client to {consultant}, {partner};
  grant update (name, reference, email, status, updated_at, changed_at, version) on client to {consultant}, {partner};
  grant update (consultant_id, deleted_at) on client to {partner};
$$);
create trigger revised after insert on client for each row execute function keep_revision();
-- A change of changed_at alone is not a new state of the client.
create trigger revised_again after update on client for each row
  when (to_jsonb(new) - 'changed_at' <> to_jsonb(old) - 'changed_at') execute function keep_revision();

do $$
declare
  v_table text;
begin
  foreach v_table in array array['note', 'dispute', 'letter', 'revision'] loop
    -- The policy of client limits what a consultant sees here.
    perform with_roles(replace('
      alter table {table} enable row level security;
      alter table {table} force row level security;
      create policy own on {table} to {consultant}
        using (exists (select from client where client.id = {table}.client_id));
      create policy every on {table} to {partner} using (true);
      grant select on {table} to {consultant}, {partner};
    ', '{table}', v_table));
  end loop;
  foreach v_table in array array['note', 'dispute', 'letter'] loop
    perform with_roles(replace('
      create trigger revised after insert or update on {table} for each row execute function keep_revision();
      create trigger touched after insert or update on {table} for each row execute function touch_client();
      grant update (updated_at, updated_by, version, archived_at) on {table} to {consultant}, {partner};
    ', '{table}', v_table));
  end loop;
end $$;
-- Authors and times come from the transaction, and the cost of a draft from the ledger: no statement may set them.
select with_roles($$
  grant insert (id, client_id, date, participants, text), update (date, participants, text)
    on note to {consultant}, {partner};
  grant insert (id, client_id, invoice, amount, position, status), update (invoice, amount, position, status)
    on dispute to {consultant}, {partner};
  grant insert (id, client_id, subject, body, status), update (subject, body, status)
    on letter to {consultant}, {partner};
$$);

alter table audit enable row level security;
alter table audit force row level security;
select with_roles($$
  -- The actor comes from the transaction: its columns are not among those granted below.
  create policy written on audit for insert to {consultant}, {partner}
    with check (person_id is not distinct from (select portal_person()) and actor = (select portal_actor()));
  -- The consultant of a client sees allowed access to it. Refused access is only for partners.
  create policy own on audit for select to {consultant}
    using (outcome = 'allowed' and exists (select from client where client.id = audit.client_id));
  create policy every on audit for select to {partner} using (true);
  grant insert (action, outcome, client_id, noun, noun_id, request_id, address, details) on audit
    to {consultant}, {partner};
  grant select on audit to {consultant}, {partner};
  -- The owner writes, seals and verifies the log, and revokes from itself the rights to change it.
  create policy owned on audit for select to {owner} using (true);
  create policy owned_written on audit for insert to {owner} with check (true);
  create policy kept on revision for insert to {owner} with check (true);
  revoke update, delete, truncate on audit, revision from {owner};
  -- For names on the pages.
  grant select (id, name, email, role, status) on person to {consultant}, {partner};
$$);
drop function with_roles(text);
