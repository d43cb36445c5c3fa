-- The whole schema, from which a new database is made. Older databases get the same schema from the numbered files. A new numbered
-- file therefore comes with a change here, and a test compares the two. A column that a numbered file adds is the last of its table here as well.
--
-- The functions are in `functions`. Those that are named here exist before these statements run, and the others after them.

-- # Roles

-- The service reads and changes records through a login of its own, `tollgate_portal_…`, which has no permissions.
-- Each transaction sets the role of its person (`tollgate_consultant_…`, `tollgate_developer_…`, `tollgate_partner_…`) and their id
-- (`tollgate.person`) until its end. Row-level security depends only on these two, not on the statement.
--
-- Every function either sets its search_path with pg_temp last, or has a body whose names were resolved when it was
-- created (`return …`): otherwise a temporary table could stand in for a table that the function works on.
--
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

do $$
declare
  v_portal text := portal_role('portal');
  v_role text;
begin
  foreach v_role in array array['consultant', 'developer', 'partner', 'portal'] loop
    continue when exists (select from pg_roles where rolname = portal_role(v_role));
    execute format('create role %I nologin %s', portal_role(v_role), case v_role when 'portal' then 'noinherit' end);
  end loop;
  foreach v_role in array array[portal_role('consultant'), portal_role('developer'), portal_role('partner')] loop
    continue when exists (select from pg_auth_members where roleid = v_role::regrole and member = v_portal::regrole);
    execute format('grant %I to %I', v_role, v_portal);
  end loop;
exception
  when insufficient_privilege then
    raise exception 'the user % may not create roles. Have an administrator run "create role %; create role %; create role %; create role %; grant %, %, % to %; grant % to % with admin option", then start again',
      current_user, portal_role('consultant'), portal_role('developer'), portal_role('partner'), v_portal || ' noinherit',
      portal_role('consultant'), portal_role('developer'), portal_role('partner'), v_portal, v_portal, quote_ident(current_user)
      using errcode = 'insufficient_privilege';
end $$;

-- Executes statements with the placeholders {consultant}, {developer}, {partner} and {portal}. Removed at the end of this file.
create function with_roles(p_statements text) returns void language plpgsql as $$
begin
  execute replace(replace(replace(replace(p_statements, '{consultant}', portal_role('consultant')),
    '{developer}', portal_role('developer')), '{partner}', portal_role('partner')), '{portal}', portal_role('portal'));
end $$;

select with_roles(format('grant usage on schema %I to {consultant}, {developer}, {partner}', current_schema()));
select with_roles($$
  grant execute on function is_active(uuid), is_erased(uuid), number_key() to {consultant}, {partner};
  grant execute on function close_months() to {partner};
  -- It is called before a role is set.
  grant execute on function is_partner(uuid) to {portal};
$$);

-- # Types

-- Money is an integer in 10⁻¹² of the currency unit, never a float.
create domain amount as numeric(38, 0);
create domain label as text check (length(value) between 1 and 200);
create domain per_minute as integer check (value > 0);
create type account_status as enum ('open', 'closed');
create type usage_source as enum ('model', 'upstream', 'estimated');

-- What one call of till() changes in one account.
create type account_change as (
  id uuid, charged numeric, held numeric, month_before numeric, request_level bigint, token_level bigint);

-- A request that ended and is charged, as instances of earlier versions report it.
create type charge as (
  id uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
  input_price bigint, output_price bigint, cost numeric, stop text, source usage_source, uncharged_input integer,
  uncharged_output integer);

-- A request that ended and is charged. Either a key or a person spent. The columns from `cached` on are null if the request has no such
-- tokens, prices or tags.
create type timed_charge as (
  id uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
  input_price bigint, output_price bigint, cost numeric, stop text, source usage_source, uncharged_input integer,
  uncharged_output integer, milliseconds integer, cached integer, cache_write integer, cached_price bigint,
  cache_write_price bigint, tags jsonb);

-- Charges of one payer for one model, to be added to the sums. With the instance that appended them, their last number in the ledger, and
-- their quarter of an hour: wherever a day begins, it begins with one. These are null for the charges of till().
create type charge_sum as (day date, instance uuid, number bigint, account uuid, key uuid, person uuid, model text, client uuid, tags jsonb,
  requests bigint, input bigint, output bigint, cached bigint, cache_write bigint, cost numeric, quarter timestamptz);

-- What an instance reports for one account: what is returned to the buckets (`charged` is no longer read);
-- what its requests in flight hold, and the allowance it keeps besides. If at_hand > 0, it wants an allowance for at_hand
-- requests of that cost and need, and lacks more_credit, more_requests and more_tokens.
create type account_report as (
  account uuid, charged numeric, requests_back integer, tokens_back bigint, held numeric, credit numeric,
  requests integer, tokens bigint, at_hand integer, cost numeric, need bigint, more_credit numeric,
  more_requests integer, more_tokens bigint);

-- The same for one row of key_limit: what an instance has, and what it returns and wants. Of at_hand requests, each takes need tokens and
-- costs at most cost.
create type key_report as (
  id uuid, requests_back integer, tokens_back bigint, held numeric, credit numeric, requests integer, tokens bigint,
  at_hand integer, cost numeric, need bigint, more_credit numeric, more_requests integer, more_tokens bigint);

-- # People and sign-in

create table person (
  id                uuid primary key,
  name              text not null check (length(name) between 1 and 200),
  -- As entered, and normalised for comparison. Null if the person is known by an identity alone.
  email             text,
  email_key         text unique,
  role              text not null check (role in ('consultant', 'developer', 'partner')),
  status            text not null default 'active' check (status in ('active', 'disabled')),
  created_at        timestamptz not null,
  last_signed_in_at timestamptz,
  -- A deleted person keeps the id and the name, for the audit log and the revisions, and nothing to sign in with.
  deleted_at        timestamptz,
  check ((email is null) = (email_key is null)),
  check (deleted_at is null or (status = 'disabled' and email is null))
);
-- A change of role or status ends every session of the person, however it is made.
create trigger person_changed after update of role, status on person for each row
  when (old.role is distinct from new.role or old.status is distinct from new.status)
  execute function end_sessions_of_changed_person();
-- For names on the pages.
select with_roles($$
  grant select (id, name) on person to {consultant}, {partner};
  grant select (email, role, status) on person to {partner};
$$);

-- Who a person is at a provider. Only this decides who signs in there; an e-mail address never does.
create table identity (
  issuer     text not null,
  subject    text not null,
  person_id  uuid not null references person,
  created_at timestamptz not null,
  -- Names an identity in URLs.
  id         uuid not null default gen_random_uuid() unique,
  -- The address that the provider reported last, normalised: a person's address follows only a change of it.
  email_key  text,
  primary key (issuer, subject)
);
create index on identity (person_id);
create trigger invitation_closed after insert on identity for each row execute function close_invitation();

-- An invitation that was accepted with its link stays open, with its person, until the person has a way to sign in.
create table invitation (
  id           uuid primary key,
  -- As entered, and normalised for comparison.
  email        text not null,
  email_key    text not null,
  name         text not null check (length(name) between 1 and 200),
  role         text not null check (role in ('consultant', 'developer', 'partner')),
  -- Null for the command line.
  invited_by   uuid references person,
  -- SHA-256 of the link's token. A new mail replaces it.
  token_hash   bytea not null unique check (length(token_hash) = 32),
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  accepted_at  timestamptz,
  -- The person who accepted it.
  person_id    uuid references person,
  withdrawn_at timestamptz,
  check (accepted_at is null or person_id is not null)
);
create unique index invitation_open on invitation (email_key) where accepted_at is null and withdrawn_at is null;

-- last_seen_at is written once a minute: free space on each page keeps these updates out of the indexes.
create table session (
  -- SHA-256 of the cookie's value. The value itself is not stored.
  hash         bytea primary key check (length(hash) = 32),
  id           uuid not null unique,
  person_id    uuid not null references person,
  method       text not null,
  factors      text[] not null check (cardinality(factors) > 0),
  -- The browser and its network, for the person's own list of sessions.
  device       text not null,
  network      text not null,
  created_at   timestamptz not null,
  last_seen_at timestamptz not null,
  -- The absolute limit; the idle limit counts from last_seen_at.
  ends_at      timestamptz not null,
  -- For logout at or by the provider: its id in the configuration, and its names for the person and the session.
  provider     text,
  issuer       text,
  subject      text,
  provider_sid text,
  -- Encrypted: signing out at the provider needs it (id_token_hint).
  id_token     bytea,
  -- When the person last proved who they are. Null: unknown, as in sessions that versions before this column started.
  proven_at    timestamptz
) with (fillfactor = 70);
create index on session (person_id);
create index on session (issuer, subject) where issuer is not null;

-- A sign-in that is not complete. An attempt has begun; is proven while a second factor is due; and is used once, when its
-- session starts or it fails. Used attempts stay until they expire, to tell a repeated callback from an invented one.
create table sign_in_attempt (
  -- SHA-256 of `state`, and of the cookie that binds the attempt to one browser.
  state_hash   bytea primary key check (length(state_hash) = 32),
  browser_hash bytea not null check (length(browser_hash) = 32),
  method       text not null,
  return_to    text not null,
  expires_at   timestamptz not null,
  step         text not null default 'begun' check (step in ('begun', 'proven', 'used')),
  -- Submissions in this step.
  tries        integer not null default 0,
  -- What the method, or in the step 'proven' the chosen second factor, keeps until the browser returns.
  data         jsonb not null default '{}',
  factor       text,
  -- The person and the proof, encrypted for this attempt, person and browser. A proven attempt is not a session.
  person_id    uuid references person on delete cascade,
  proof        bytea,
  -- The second factor is being set up, not shown.
  enrols       boolean not null default false,
  -- The person who gets the identity, instead of a sign-in.
  links_to     uuid references person on delete cascade,
  -- As in session: the provider may report the end of its session while the sign-in waits for its second factor. The copy in the
  -- encrypted proof cannot be looked up.
  provider_sid text,
  -- What only the service can write, for all columns: a row that was added or changed with plain SQL is refused. Each submission hashes it
  -- once more.
  mac          bytea,
  check ((step = 'proven') = (person_id is not null)),
  check ((step = 'proven') = (proof is not null))
);
create index on sign_in_attempt (expires_at);
create index on sign_in_attempt (browser_hash) where step = 'proven';
create index on sign_in_attempt (provider_sid) where provider_sid is not null;
create index on sign_in_attempt (person_id) where person_id is not null;
create index on sign_in_attempt (links_to) where links_to is not null;

-- Accepted logout tokens: each works once.
create table logout_token (
  issuer     text not null,
  jti        text not null,
  expires_at timestamptz not null,
  primary key (issuer, jti)
);
create index on logout_token (expires_at);

-- What one key has used of a limit, and how often it failed in succession. The key is a hash: of an address, a person or a
-- network.
create table throttle (
  kind       text not null,
  key        bytea not null check (length(key) = 32),
  -- When each use happened that still counts.
  taken      timestamptz[] not null default '{}',
  failures   integer not null default 0,
  failed_at  timestamptz,
  -- When the row loses its meaning and may be deleted.
  expires_at timestamptz not null,
  primary key (kind, key)
);
create index on throttle (expires_at);

-- The sign-in links that were mailed to an address: up to three are live, so that a stranger's request does not void the one that its
-- owner is about to open. A new one replaces only that of the same browser. The link and the code in the same mail consume the row. The
-- mail itself waits in the schema pgboss, which pg-boss creates.
create table email_link (
  -- The normalised address, a space and the token's hash.
  email_key   text primary key,
  email       text not null,
  -- SHA-256 of the link's token.
  token_hash  bytea not null unique check (length(token_hash) = 32),
  -- Encrypted for this token, address and attempt: it is short enough to be guessed from a hash, and only the service can write it.
  code        bytea not null,
  -- The sign-in attempt that asked for the mail, and its browser.
  state_hash  bytea not null check (length(state_hash) = 32),
  device      text not null,
  expires_at  timestamptz not null,
  address_key text not null generated always as (split_part(email_key, ' ', 1)) stored,
  -- Whether it was requested from a network in which somebody has signed in with the address.
  is_known    boolean not null default false
);
create index on email_link (expires_at);
create index on email_link (address_key);

create table password (
  person_id  uuid primary key references person on delete cascade,
  -- A PHC string.
  hash       text not null check (hash like '$argon2id$%'),
  changed_at timestamptz not null
);
create trigger invitation_closed after insert on password for each row execute function close_invitation();

-- The links with which people choose a password, each mailed to an address: it proves the address, and works once. As with email_link,
-- up to three are live; a new one replaces that of the same network.
create table password_reset (
  -- As in email_link.
  email_key    text primary key,
  -- SHA-256 of the link's token.
  token_hash   bytea not null unique check (length(token_hash) = 32),
  -- The address as it was entered.
  email        text not null,
  expires_at   timestamptz not null,
  address_key  text not null generated always as (split_part(email_key, ' ', 1)) stored,
  is_known     boolean not null default false,
  -- SHA-256 of the network that requested it.
  network_hash bytea check (length(network_hash) = 32),
  -- The address, encrypted for this token. Only the service can write it, so a link that was added with plain SQL is refused.
  proof        bytea
);
create index on password_reset (expires_at);
create index on password_reset (address_key);

-- The user handle of a person in WebAuthn. It identifies them in their authenticators, and says nothing about them.
create table passkey_owner (
  person_id uuid primary key references person on delete cascade,
  handle    bytea not null unique check (length(handle) = 64)
);

create table passkey (
  id            uuid primary key,
  person_id     uuid not null references passkey_owner on delete cascade,
  -- The host that it works for.
  rp_id         text not null,
  credential_id bytea not null unique,
  public_key    bytea not null,
  -- How often the authenticator has signed; always 0 if it does not count.
  counter       bigint not null check (counter >= 0),
  transports    text[] not null,
  name          text not null check (length(name) between 1 and 200),
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
create index on passkey (person_id);
create trigger invitation_closed after insert on passkey for each row execute function close_invitation();

-- A person's authenticator app.
create table totp (
  person_id  uuid primary key references person on delete cascade,
  -- Encrypted.
  secret     bytea not null,
  -- The time step of the last accepted code. Codes of it and of earlier steps are refused.
  last_step  bigint not null,
  created_at timestamptz not null
);

-- A person's verified telephone number, for codes by text message.
create table phone (
  person_id   uuid primary key references person on delete cascade,
  number      text not null check (number ~ '^\+[1-9][0-9]{6,14}$'),
  verified_at timestamptz not null
);

-- The unused recovery codes: SHA-256 of 80 random bits each.
create table recovery_code (
  person_id uuid not null references person on delete cascade,
  hash      bytea not null check (length(hash) = 32),
  primary key (person_id, hash)
);

-- A second factor that a signed-in person has begun to set up.
create table enrolment (
  session_id uuid primary key references session (id) on delete cascade,
  factor     text not null,
  data       jsonb not null,
  tries      integer not null default 0,
  expires_at timestamptz not null
);

-- A factor that a signed-in person has begun to show, to confirm who they are.
create table confirmation (
  session_id uuid primary key references session (id) on delete cascade,
  factor     text not null,
  data       jsonb not null,
  tries      integer not null default 0,
  expires_at timestamptz not null
);

-- The networks in which people have signed in.
create table known_network (
  -- SHA-256 of the network and of the person's id or normalised address.
  hash       bytea primary key check (length(hash) = 32),
  expires_at timestamptz not null
);
create index on known_network (expires_at);

-- The browsers in which people have signed in: a sign-in in another is reported to the person by mail. A row gives no rights.
create table known_browser (
  person_id  uuid not null references person on delete cascade,
  -- SHA-256 of the value of the browser's cookie.
  hash       bytea not null check (length(hash) = 32),
  expires_at timestamptz not null,
  primary key (person_id, hash)
);
create index on known_browser (expires_at);

-- A word encrypted with the key for secrets, so that an instance with another key can tell. At most one row; the first start with a
-- key writes it.
create table encryption_check (
  only_row  boolean primary key default true check (only_row),
  encrypted bytea not null
);

-- At whose address a calendar program reads a person's tasks.
create table calendar_feed (
  person_id  uuid primary key references person on delete cascade,
  -- The address is computed from it with the installation's key, which is not in the database, so a row that was planted here yields no address.
  id         uuid not null,
  created_at timestamptz(3) not null default now(),
  read_at    timestamptz(3)
);

-- The people who are mailed their tasks in the morning, because they asked for it.
create table task_mail (
  person_id  uuid primary key references person on delete cascade,
  -- The last day, in the firm's time zone, whose mail is settled. The instance that advances it to a day queues the mail of that day.
  settled_on date not null
);

-- # Clients and their records

-- Search finds a client by the middle of a word, by a reference without its punctuation (PA1031 for PA-1031), and, if
-- nothing else matches, by a similar spelling.
do $$
begin
  create extension if not exists pg_trgm;
exception
  when insufficient_privilege or feature_not_supported or undefined_file then
    raise exception 'search needs the extension pg_trgm, which is part of PostgreSQL''s contrib modules. Install them if they are missing, have an administrator run "create extension pg_trgm" in this database, then start again (%)', sqlerrm
      using errcode = sqlstate;
end $$;

-- FORCE applies the policies to the owner of the tables too, so that a statement outside of the portal sees no rows. The owner reads
-- records only to seal and to prove them (`proved`), and changes only what an erasure does (`erased`).
create table client (
  id               uuid primary key,
  name             text not null check (length(name) between 1 and 200),
  reference        text check (length(reference) between 1 and 100),
  email            text check (length(email) between 1 and 254),
  consultant_id    uuid not null references person,
  status           text not null default 'active' check (status in ('active', 'archived')),
  created_at       timestamptz(3) not null default record_time(),
  updated_at       timestamptz(3) not null default record_time(),
  version          integer not null default 1,
  -- When the client or one of its items last changed. Set by triggers.
  changed_at       timestamptz(3) not null default record_time(),
  -- A deleted record is hidden; its revisions remain.
  deleted_at       timestamptz(3),
  -- Limited, because normalising can make eighteen characters of one, and cursors contain this key.
  sort_key         text not null generated always as (left(words(name), 200)) stored,
  reference_key    text not null generated always as (lower(coalesce(reference, ''))) stored,
  search           tsvector not null generated always as
    (to_tsvector('simple', words(name || ' ' || coalesce(reference, '') || ' ' || coalesce(email, '')))) stored,
  address          text check (length(address) between 1 and 500),
  spelling         text not null
    generated always as (spelling(name || ' ' || coalesce(reference, '') || ' ' || coalesce(email, ''))) stored,
  -- The billing details: what every invoice to the client states. A new draft takes a copy, so that no later change reaches it.
  vat_number       text check (length(vat_number) between 1 and 50),
  billing_street   text check (length(billing_street) between 1 and 200),
  billing_extra    text check (length(billing_extra) between 1 and 200),
  billing_postcode text check (length(billing_postcode) between 1 and 20),
  billing_city     text check (length(billing_city) between 1 and 100),
  -- ISO 3166-1.
  billing_country  text check (billing_country ~ '^[A-Z]{2}$'),
  buyer_reference  text check (length(buyer_reference) between 1 and 100),
  order_number     text check (length(order_number) between 1 and 100),
  days_to_pay      integer check (days_to_pay between 0 and 365),
  -- Of those that invoices have words in. Null: that of the firm.
  billing_language text check (billing_language in ('de', 'en', 'fr'))
);
-- Per consultant, so that a conflict does not reveal the references of another consultant.
create unique index client_reference on client (consultant_id, reference_key)
  where reference is not null and deleted_at is null;
-- Each list is read in the order of an index, up to its limit.
create index client_by_name on client (status, sort_key, id) where deleted_at is null;
create index client_by_reference on client (status, reference_key, id) where deleted_at is null;
create index client_by_change on client (status, changed_at, id) where deleted_at is null;
create index client_of_consultant_by_name on client (consultant_id, status, sort_key, id) where deleted_at is null;
create index client_of_consultant_by_reference on client (consultant_id, status, reference_key, id)
  where deleted_at is null;
create index client_of_consultant_by_change on client (consultant_id, status, changed_at, id) where deleted_at is null;
create index on client using gin (search);
create index client_spelling on client using gin (spelling gin_trgm_ops) where deleted_at is null;

create trigger stamped before update on client for each row execute function stamp_change();
create trigger stays_erased before update on client for each row execute function refuse_erased();
create trigger revised after insert on client for each row execute function keep_revision();
-- A change of changed_at alone is not a new state of the client.
create trigger revised_again after update on client for each row
  when (to_jsonb(new) - 'changed_at' <> to_jsonb(old) - 'changed_at') execute function keep_revision();

alter table client enable row level security, force row level security;
create policy proved on client for select to current_user using (current_setting('tollgate.proof', true) = 'on');
create policy erased on client for update to current_user using (erasure_is_due(id));
select with_roles($$
  create policy own on client to {consultant}
    using (consultant_id = (select portal_person()) and deleted_at is null);
  create policy every on client to {partner} using (true);
  grant select on client to {consultant}, {partner};
  grant insert (id, name, reference, email, consultant_id, address, vat_number, billing_street, billing_extra, billing_postcode,
      billing_city, billing_country, buyer_reference, order_number, days_to_pay, billing_language),
    update (name, reference, email, status, updated_at, changed_at, version, address, vat_number, billing_street, billing_extra,
      billing_postcode, billing_city, billing_country, buyer_reference, order_number, days_to_pay, billing_language)
    on client to {consultant}, {partner};
  grant update (consultant_id, deleted_at) on client to {partner};
$$);

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
-- A search reads the items that changed last before it turns to the full-text index.
create index note_by_change on note (updated_at, id) where archived_at is null;
create trigger bounded after insert or update of text on note for each row execute function refuse_excess('text');

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
    (to_tsvector('simple', left(words(invoice || ' ' || position), 100000))) stored,
  -- The day by which the firm has to answer. Null: none.
  due         date
);
create index on dispute (client_id, created_at);
create index on dispute using gin (search);
create index dispute_by_change on dispute (updated_at, id) where archived_at is null;
-- The number of open disputes, for each row of a list.
create index dispute_open on dispute (client_id) where status = 'open' and archived_at is null;
-- What is waiting, in the order in which it is shown.
create index dispute_open_by_age on dispute (created_at, id) include (client_id, amount)
  where status = 'open' and archived_at is null;
create index dispute_due on dispute (due, id) include (client_id)
  where status = 'open' and archived_at is null and due is not null;
create trigger bounded after insert or update of position on dispute for each row execute function refuse_excess('position');

-- Nobody changes a letter once it is sent.
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
    (to_tsvector('simple', left(words(subject || ' ' || body), 100000))) stored,
  approved_at timestamptz(3),
  approved_by uuid references person,
  sent_at     timestamptz(3),
  -- The name and the address that it was sent to, and the name of its author, as they were then.
  recipient   text,
  author      text,
  -- The letter that this is a new version of.
  previous_id uuid references letter,
  unique (id, client_id)
);
create index on letter (client_id, created_at);
create index on letter using gin (search);
create index letter_by_change on letter (updated_at, id) where archived_at is null;
create index letter_waiting on letter (status, updated_at, id) include (client_id)
  where status in ('draft', 'approved') and archived_at is null;
create index letter_waiting_of_client on letter (client_id, status)
  where status in ('draft', 'approved') and archived_at is null;
create trigger bounded after insert or update of body on letter for each row execute function refuse_excess('body');
create trigger generated before insert or update on letter for each row execute function mark_generated();
create trigger kept before insert or update or delete on letter for each row execute function keep_letter();
create trigger not_emptied before truncate on letter for each statement execute function refuse_change();

-- `letters.approval` of the configuration. At most one row; each start that finds another rule writes its own. Without a row, anyone may approve.
create table letter_approval (
  only_row boolean primary key default true check (only_row),
  rule     text not null check (rule in ('anyone', 'not-writer', 'partners'))
);
select with_roles('grant select on letter_approval to {consultant}, {partner}');

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

-- A running timer of each person, from which a time entry is made: docs/decisions/0040-timer.md.
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

-- Documents are names and contents. Contents are the bytes of files, each stored once per client, encrypted and in chunks:
-- docs/decisions/0030-documents.md.
create table document_content (
  client_id  uuid not null references client,
  -- SHA-256 of the bytes.
  digest     bytea not null check (length(digest) = 32),
  bytes      bigint not null check (bytes between 0 and 100000000),
  -- The media type, found from the bytes.
  type       text not null check (length(type) between 3 and 100),
  -- The upload with whose id its chunks are stored.
  upload_id  uuid not null,
  -- Whether a document has had it. What none has had within a day is removed.
  used       boolean not null default false,
  created_at timestamptz(3) not null default record_time(),
  -- Why there is no text, or that it is there. Contents that a document has are read in the background.
  reading    text not null default 'waiting' check (reading in ('waiting', 'read', 'none', 'protected', 'damaged', 'too_much')),
  -- How often an instance began to read it.
  tries      integer not null default 0,
  -- Until then, that instance is expected to read it.
  claimed_until timestamptz(3),
  primary key (client_id, digest),
  unique (client_id, upload_id)
);
create index document_content_unused on document_content (created_at) where not used;
create index document_content_waiting on document_content (created_at) where reading = 'waiting' and used;

-- The text of contents, page by page, as a process of its own has read it.
create table document_text (
  client_id uuid not null references client,
  digest    bytea not null,
  page      integer not null check (page > 0),
  -- The name of a sheet; empty for other pages.
  label     text not null,
  text      text not null,
  search    tsvector not null generated always as (to_tsvector('simple', left(words(label || ' ' || text), 100000))) stored,
  primary key (client_id, digest, page),
  foreign key (client_id, digest) references document_content on delete cascade
);
create index on document_text using gin (search);

-- Bytes on their way. A complete one has made a content, or found it there.
create table document_upload (
  id         uuid primary key,
  client_id  uuid not null references client,
  bytes      bigint not null check (bytes between 0 and 100000000),
  received   bigint not null default 0 check (received between 0 and bytes),
  -- Null until all bytes have arrived.
  digest     bytea check (length(digest) = 32),
  type       text,
  created_at timestamptz(3) not null default record_time(),
  created_by uuid default portal_person() references person,
  touched_at timestamptz(3) not null default record_time(),
  check (digest is null or received = bytes and type is not null)
);
create index on document_upload (touched_at);
create index on document_upload (client_id);

-- Encrypted chunks that are kept in a folder or a bucket: docs/decisions/0039-storage-of-documents.md.
create table document_object (
  -- SHA-256 of the encrypted bytes: the name of the object.
  digest       bytea primary key check (length(digest) = 32),
  client_id    uuid not null references client,
  place        text not null check (place in ('folder', 'bucket')),
  created_at   timestamptz(3) not null default record_time(),
  -- When no chunk needs it any more. Null while one does. Known before the object is written, so a crash leaves none behind for ever.
  remove_after timestamptz(3) default record_time() + interval '1 day'
);
create index on document_object (remove_after) where remove_after is not null;

create table document_chunk (
  client_id uuid not null references client,
  upload_id uuid not null,
  -- The number of bytes before it.
  start     bigint not null,
  -- Without what encryption adds to it.
  bytes     integer not null check (bytes > 0),
  -- Encrypted with the installation's key, for this upload and this start.
  data      bytea,
  -- Where the encrypted bytes are, if not here.
  object    bytea references document_object,
  primary key (client_id, upload_id, start),
  check (num_nonnulls(data, object) = 1)
);
create unique index on document_chunk (object) where object is not null;
-- What is encrypted cannot be compressed.
alter table document_chunk alter column data set storage external;

create table document (
  id          uuid primary key,
  client_id   uuid not null references client,
  name        text not null check (length(name) between 1 and 255),
  digest      bytea not null,
  type        text not null,
  bytes       bigint not null,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3),
  search      tsvector not null generated always as (to_tsvector('simple', words(name))) stored,
  foreign key (client_id, digest) references document_content
);
create index on document (client_id, digest);
create index document_by_creation on document (client_id, created_at, id);
create index on document using gin (search);
create index document_by_change on document (updated_at, id) where archived_at is null;

-- What is to be done for a client: docs/decisions/0034-tasks.md.
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
create trigger bounded after insert or update of title on task for each row execute function refuse_excess('title');

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
create trigger bounded after insert or update of name on contact for each row execute function refuse_excess('name');

-- Letters as mail to a client and its contacts, with what was sent: docs/decisions/0035-letters-by-mail.md.

-- The PDF of a letter, as it was first mailed.
create table letter_file (
  letter_id uuid primary key,
  client_id uuid not null references client,
  name      text not null check (length(name) between 1 and 300),
  content   bytea not null,
  digest    bytea not null check (digest = sha256(content)),
  foreign key (letter_id, client_id) references letter (id, client_id)
);

create table letter_mail (
  id          uuid primary key,
  client_id   uuid not null references client,
  letter_id   uuid not null,
  -- The mails that one request sent have this in common.
  sending_id  uuid not null,
  -- Null: the client itself.
  contact_id  uuid references contact,
  -- The name of the contact or the client, as it was then.
  name        text not null check (length(name) between 1 and 200),
  recipient   text not null check (length(recipient) between 3 and 254),
  subject     text not null check (length(subject) between 1 and 300),
  message     text not null check (length(message) between 1 and 5000),
  -- Of the file in letter_file.
  digest      bytea not null,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  version     integer not null default 1 check (version = 1),
  unique (sending_id, recipient),
  foreign key (letter_id, client_id) references letter (id, client_id)
);
create index on letter_mail (letter_id, created_at);
create index on letter_mail (client_id);

-- How each mail ended. It changes, and the mails do not.
create table letter_mail_end (
  mail_id   uuid primary key references letter_mail on delete cascade,
  client_id uuid not null references client,
  state     text not null default 'waiting' check (state in ('waiting', 'queued', 'sent', 'given_up', 'withdrawn')),
  at        timestamptz(3) not null default record_time()
);
create index on letter_mail_end (client_id);
create index on letter_mail_end (mail_id) where state = 'waiting';

create trigger revised after insert on letter_mail for each row execute function keep_revision();
create trigger touched after insert on letter_mail for each row execute function touch_client();

-- The review of letters: docs/decisions/0037-review-of-letters.md.

create table letter_review (
  id             uuid primary key,
  client_id      uuid not null references client,
  letter_id      uuid not null,
  -- The person who is asked.
  reviewer_id    uuid not null references person,
  -- The version of the letter that they were asked about.
  letter_version integer not null,
  -- What they were asked to look at.
  message        text check (length(message) between 1 and 2000),
  status         text not null default 'open' check (status in ('open', 'returned', 'approved', 'withdrawn')),
  -- Why the letter was returned.
  reason         text check (length(reason) between 1 and 5000),
  -- The version of the letter that they returned or approved.
  ended_version  integer,
  created_at     timestamptz(3) not null default record_time(),
  created_by     uuid default portal_person() references person,
  updated_at     timestamptz(3) not null default record_time(),
  updated_by     uuid default portal_person() references person,
  version        integer not null default 1,
  foreign key (letter_id, client_id) references letter (id, client_id),
  check ((status = 'returned') = (reason is not null)),
  check ((status in ('returned', 'approved')) = (ended_version is not null))
);
create index on letter_review (letter_id, created_at);
create index on letter_review (client_id);
create unique index letter_review_open on letter_review (letter_id, reviewer_id) where status = 'open';
create index letter_review_of_reviewer on letter_review (reviewer_id) where status = 'open';
create index letter_review_of_asker on letter_review (created_by) where status in ('open', 'returned');

-- What a mail is to tell: that a review was asked for, or how it ended.
create table letter_review_notice (
  review_id  uuid not null references letter_review on delete cascade,
  client_id  uuid not null references client,
  kind       text not null check (kind in ('asked', 'returned', 'approved')),
  created_at timestamptz(3) not null default record_time(),
  primary key (review_id, kind)
);
create index on letter_review_notice (client_id);

create trigger revised after insert or update on letter_review for each row execute function keep_revision();
create trigger touched after insert or update on letter_review for each row execute function touch_client();

do $$
declare
  v_table text;
begin
  foreach v_table in array array['time_entry', 'expense'] loop
    execute replace('
      create trigger kept before update or delete on {table} for each row execute function keep_entry();
      create trigger listed after insert or update or delete on {table} for each row execute function list_changed_entry();
    ', '{table}', v_table);
  end loop;
  foreach v_table in array array['time_entry', 'expense', 'document'] loop
    execute replace('
      create trigger bounded after insert on {table} for each row execute function refuse_excess_entry();
      create trigger bounded_restored after update of archived_at on {table} for each row
        when (old.archived_at is not null and new.archived_at is null) execute function refuse_excess_entry();
    ', '{table}', v_table);
  end loop;
  foreach v_table in array array['note', 'dispute', 'letter', 'time_entry', 'expense', 'document', 'task', 'contact'] loop
    perform with_roles(replace($items$
      create trigger revised after insert or update on {table} for each row execute function keep_revision();
      create trigger touched after insert or update on {table} for each row execute function touch_client();
      create policy erased on {table} for delete to current_user using (erasure_is_due(client_id));
      grant update (updated_at, updated_by, version, archived_at) on {table} to {consultant}, {partner};
    $items$, '{table}', v_table));
  end loop;
  foreach v_table in array array['note', 'dispute', 'letter', 'time_entry', 'expense', 'document', 'document_content', 'document_upload',
      'document_chunk', 'document_object', 'document_text', 'task', 'contact', 'letter_file', 'letter_mail', 'letter_mail_end',
      'letter_review', 'letter_review_notice'] loop
    perform with_roles(replace($items$
      alter table {table} enable row level security, force row level security;
      -- The policy of client limits what a consultant sees here.
      create policy own on {table} to {consultant} using (exists (select from client where client.id = {table}.client_id));
      create policy every on {table} to {partner} using (true);
      create policy proved on {table} for select to current_user using (current_setting('tollgate.proof', true) = 'on');
      grant select on {table} to {consultant}, {partner};
    $items$, '{table}', v_table));
  end loop;
end $$;
create policy erased on letter_file for delete to current_user using (erasure_is_due(client_id));
create policy erased on letter_mail for delete to current_user using (erasure_is_due(client_id));
create policy erased on letter_mail_end for delete to current_user using (erasure_is_due(client_id));
create policy erased on letter_review for delete to current_user using (erasure_is_due(client_id));
-- For the service that sends them, and for an erasure.
create policy erased on letter_review_notice for delete to current_user using (true);
create policy kept on letter_review_notice for update to current_user using (current_setting('tollgate.proof', true) = 'on');
-- For the service that sends them.
create policy kept on letter_mail_end for update to current_user using (current_setting('tollgate.proof', true) = 'on');
create policy erased on document_content for delete to current_user using (not used or erasure_is_due(client_id));
create policy kept on document_content for update to current_user using (current_setting('tollgate.proof', true) = 'on');
create policy kept on document_text for insert to current_user with check (current_setting('tollgate.proof', true) = 'on');
create policy erased on document_upload for delete to current_user using (true);
create policy swept on document_upload for update to current_user using (current_setting('tollgate.proof', true) = 'on');
create policy released on document_object for update to current_user using (current_setting('tollgate.proof', true) = 'on');
create policy erased on document_object for delete to current_user using (remove_after < clock_timestamp());
create policy erased on document_chunk for delete to current_user using (erasure_is_due(client_id)
  or not exists (select from document_content c where (c.client_id, c.upload_id) = (document_chunk.client_id, document_chunk.upload_id)));
alter table timer enable row level security, force row level security;
select with_roles($$
  -- The policy of client limits what a consultant sees here.
  create policy own on timer for select to {consultant} using (exists (select from client where client.id = timer.client_id));
  create policy every on timer for select to {partner} using (true);
  -- People start, stop and remove their own, for clients that they see.
  create policy started on timer for insert to {consultant}, {partner}
    with check (person_id = (select portal_person()) and exists (select from client where client.id = timer.client_id));
  create policy stopped on timer for update to {consultant}, {partner} using (person_id = (select portal_person()));
  create policy removed on timer for delete to {consultant}, {partner} using (person_id = (select portal_person()));
  grant select, delete on timer to {consultant}, {partner};
  grant insert (id, client_id, text), update (stopped_at) on timer to {consultant}, {partner};
$$);
create policy proved on timer for select to current_user using (current_setting('tollgate.proof', true) = 'on');
-- Also when its person or a hand-over ends it.
create policy erased on timer for delete to current_user using (true);
-- Authors and times come from the transaction, the cost of a draft from the ledger, and the type and the size of a document from its
-- content: no statement may set them.
select with_roles($$
  grant insert (id, client_id, date, participants, text), update (date, participants, text) on note to {consultant}, {partner};
  grant insert (id, client_id, invoice, amount, position, status, due), update (invoice, amount, position, status, due)
    on dispute to {consultant}, {partner};
  grant insert (id, client_id, subject, body, status, previous_id), update (subject, body, status)
    on letter to {consultant}, {partner};
  grant insert (id, client_id, date, minutes, rate, text, billable), update (date, minutes, rate, text, billable)
    on time_entry to {consultant}, {partner};
  grant insert (id, client_id, date, amount, text, tax, billable), update (date, amount, text, tax, billable)
    on expense to {consultant}, {partner};
  grant insert (id, client_id, name, digest), update (name, digest) on document to {consultant}, {partner};
  grant insert (client_id, digest, bytes, type, upload_id), update (used, created_at) on document_content to {consultant}, {partner};
  grant insert (id, client_id, bytes), update (received, digest, type, touched_at) on document_upload to {consultant}, {partner};
  grant insert (client_id, upload_id, start, bytes, data, object) on document_chunk to {consultant}, {partner};
  grant insert (digest, client_id, place), update (remove_after) on document_object to {consultant}, {partner};
  grant insert (id, client_id, title, due, priority, status, owner_id, about_noun, about_id),
    update (title, due, priority, status, owner_id, about_noun, about_id) on task to {consultant}, {partner};
  grant insert (id, client_id, name, job_title, email, phone, language), update (name, job_title, email, phone, language)
    on contact to {consultant}, {partner};
  grant insert (letter_id, client_id, name, content, digest) on letter_file to {consultant}, {partner};
  grant insert (id, client_id, letter_id, sending_id, contact_id, recipient, subject, message) on letter_mail to {consultant}, {partner};
  grant insert (mail_id, client_id) on letter_mail_end to {consultant}, {partner};
  grant insert (id, client_id, letter_id, reviewer_id, message), update (status, reason, updated_at, updated_by, version)
    on letter_review to {consultant}, {partner};
  grant insert (review_id, client_id, kind) on letter_review_notice to {consultant}, {partner};
$$);

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
  number    bigint generated always as identity unique,
  -- The digest that an erased revision had when it was sealed. Null if it was erased before that, or is not erased.
  erased    bytea check (length(erased) = 32),
  primary key (noun_id, version)
);
create trigger append_only before delete or truncate on revision for each statement execute function refuse_change();
create trigger contents_kept before update on revision for each row execute function keep_contents();
-- Revisions commit with an event of the audit log. One that does not is recorded, so that `verify` finds it.
create constraint trigger announced after insert on revision deferrable initially deferred
  for each row execute function record_unannounced();

alter table revision enable row level security, force row level security;
create policy kept on revision for insert to current_user with check (true);
create policy proved on revision for select to current_user using (current_setting('tollgate.proof', true) = 'on');
-- What erase_client() does to a record whose erasure is due, and nothing else.
create policy erased on revision for update to current_user using (erasure_is_due(client_id)) with check (data = '{}');
revoke update, delete, truncate on revision from current_user;
grant update (data, erased) on revision to current_user;
select with_roles($$
  create policy own on revision to {consultant} using (exists (select from client where client.id = revision.client_id));
  create policy every on revision to {partner} using (true);
  grant select (noun, noun_id, version, client_id, person_id, at, archived, data) on revision to {consultant};
  grant select on revision to {partner};
$$);

-- # Erasure
--
-- Erasing a client, after a waiting period, removes its items and drafts, the contents of its revisions and of invoices that were
-- never issued, and its name, reference and addresses. The ledger and the audit log keep its id. Issued invoices stay, because
-- the law requires it. What remains of a revision is who wrote it and when.

-- Erasures that are scheduled or were withdrawn. Performing one removes its row.
create table erasure (
  id           bigint generated always as identity primary key,
  client_id    uuid not null references client,
  -- It is kept after the erasure.
  reason       text not null check (length(reason) between 1 and 500),
  -- Null: a retention rule.
  scheduled_by uuid default portal_person() references person,
  scheduled_at timestamptz(3) not null default record_time(),
  due_at       timestamptz(3) not null,
  withdrawn_by uuid references person,
  withdrawn_at timestamptz(3),
  check (withdrawn_by is null or withdrawn_at is not null)
);
create unique index erasure_open on erasure (client_id) where withdrawn_at is null;
create index erasure_by_due on erasure (due_at) where withdrawn_at is null;
create index erasure_withdrawn on erasure (client_id) where withdrawn_at is not null;
alter table erasure enable row level security;
select with_roles($$
  create policy own on erasure for select to {consultant}
    using (exists (select from client where client.id = erasure.client_id));
  create policy every on erasure for select to {partner} using (true);
  -- Who scheduled it and when come from the transaction. The service waits by its own clock and setting: see erase_client().
  create policy scheduled on erasure for insert to {partner} with check (withdrawn_at is null);
  create policy withdrawn on erasure for update to {partner} using (withdrawn_at is null)
    with check (withdrawn_at is not null and withdrawn_by is not distinct from (select portal_person()));
  grant select (client_id, reason, due_at, scheduled_at, scheduled_by, withdrawn_at) on erasure to {consultant};
  grant select, insert (client_id, reason, due_at), update (withdrawn_by, withdrawn_at) on erasure to {partner};
$$);

-- The clients that were erased. `remains` is a digest of what is left of their revisions.
create table erased_client (
  number       bigint generated always as identity unique,
  client_id    uuid primary key references client,
  at           timestamptz(3) not null default record_time(),
  reason       text not null,
  scheduled_by uuid references person,
  scheduled_at timestamptz(3) not null,
  revisions    bigint not null,
  remains      bytea not null check (length(remains) = 32)
);
create trigger numbered_in_order before insert on erased_client for each statement execute function take_transaction_id();
create trigger append_only before update or delete or truncate on erased_client for each statement execute function refuse_change();
revoke update, delete, truncate on erased_client from current_user;
select with_roles('grant select on erased_client to {partner}');

-- # Drafting letters

-- A generation for a letter. The hold, the ledger row and the stored reply have the same id. Tokens, cost and stop reason
-- are only in the ledger.
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
create trigger not_of_erased before insert on draft for each row execute function skip_erased();
alter table draft enable row level security, force row level security;
-- For recovery, and for the functions that end a draft.
create policy owned on draft to current_user using (true);
select with_roles($$
  create policy own on draft to {consultant} using (exists (select from client where client.id = draft.client_id));
  create policy every on draft to {partner} using (true);
  -- Author, status, letter and failure are written by functions, and by nothing else.
  grant select, insert (id, client_id, instructions, sources, model, subject, rewrites, rewrites_version),
    update (stop_asked_at) on draft to {consultant}, {partner};
$$);

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
create trigger revised after insert or update on letter_template for each row execute function keep_template_revision();

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
select with_roles($$
  grant select on letter_template, letter_template_revision to {consultant}, {partner};
  grant insert (id, kind, name, instructions, is_default),
    update (kind, name, instructions, is_default, updated_at, updated_by, version, removed_at)
    on letter_template to {partner};
$$);

-- # Accounts, keys and prices

create table account (
  id                  uuid primary key,
  name                label not null,
  status              account_status not null default 'open',
  requests_per_minute per_minute not null,
  tokens_per_minute   per_minute not null,
  -- Null: prepaid, the credit left is credited - charged - held. Else: monthly_limit - month_charged - held.
  monthly_limit       amount,
  credited            amount not null default 0,
  charged             amount not null default 0,
  held                amount not null default 0,
  -- month_charged is the sum of the charges since the first of this month (UTC).
  month               date not null default date_trunc('month', now() at time zone 'UTC')::date,
  month_charged       amount not null default 0,
  -- The levels of the buckets at level_at, in 1/60 000 000 of a request or token: every µs a bucket refills by its limit.
  request_level       bigint not null,
  token_level         bigint not null,
  level_at            timestamptz not null default now(),
  -- The sums of the allowances. The buckets refill only to their size less what is lent.
  credit_lent         amount not null default 0,
  requests_lent       bigint not null default 0,
  tokens_lent         bigint not null default 0,
  -- When a request last lacked what instances have as allowances: for two seconds nothing is lent.
  recalled_at         timestamptz,
  created_at          timestamptz not null default now(),
  closed_at           timestamptz,
  -- Whether it is the firm's own. Only its requests may name the client that their cost is attributed to.
  own                 boolean not null default false,
  -- `charged` when credit was last added or withdrawn: the share used of a balance counts from there.
  charged_at_credit   amount not null default 0,
  -- Whom its invoices are addressed to. A draft takes what is here when it is issued, unless it states a buyer of its own.
  billing_name        text check (length(billing_name) between 1 and 200),
  billing_address     text check (length(billing_address) between 1 and 500),
  billing_tax_number  text check (length(billing_tax_number) between 1 and 50),
  billing_email       text check (length(billing_email) between 3 and 254),
  -- Whether a key of it has limits of its own. Locking the account also reads this afresh, so the till need not look
  -- for the limits of other accounts' keys.
  limits_keys         boolean not null default false,
  -- Whether it has budgets, for the same reason.
  has_budgets         boolean not null default false,
  -- One constraint, for speed: PostgreSQL prepares each constraint again for every statement that writes to the table.
  constraint never_negative check (
    least(monthly_limit, charged, held, month_charged, credit_lent, requests_lent, tokens_lent) >= 0
    and (monthly_limit is not null or credited - charged - held - credit_lent >= 0))
) with (fillfactor = 50);
-- Commands find an account by its name.
create unique index account_name on account (lower(normalize(name, nfkc)));
create trigger charged_at_credit_noted before update of credited on account for each row
  when (new.credited <> old.credited) execute function note_charged_at_credit();
-- Partners read it for invoices, developers the accounts of granted_accounts(). The owner, which runs the till, is exempt.
alter table account enable row level security;
select with_roles($$
  create policy every on account for select to {partner} using (true);
  -- The firm's own account is not billed.
  grant select (id, name, own, billing_name, billing_address, billing_tax_number, billing_email) on account to {partner};
  grant select (id, name, status, requests_per_minute, tokens_per_minute, monthly_limit, credited, charged, held, month, month_charged,
    created_at, closed_at) on account to {developer};
$$);

-- Which accounts a developer sees. It counts only while the person is an active developer.
create table account_grant (
  person_id  uuid not null references person,
  account_id uuid not null references account,
  granted_at timestamptz not null default now(),
  primary key (person_id, account_id)
);

create table credit_entry (
  id         uuid primary key,
  account_id uuid not null references account,
  at         timestamptz not null default now(),
  amount     amount not null check (amount <> 0),
  note       text not null default '',
  number     bigint generated always as identity unique
);
create index on credit_entry (account_id, at);
create trigger numbered_in_order before insert on credit_entry for each statement execute function take_transaction_id();
create trigger append_only before update or delete or truncate on credit_entry for each statement execute function refuse_change();
revoke update, delete, truncate on credit_entry from current_user;

-- The limits and budgets of a key, besides those of its account. A key that replaces another one shares its row, so that
-- rotation gives no second budget. Every function that writes a row, or decides by it, has locked the row's account before
-- it reads the row.
create table key_limit (
  id                  uuid primary key,
  account_id          uuid not null references account,
  -- Null: only that of the account.
  requests_per_minute per_minute,
  tokens_per_minute   per_minute,
  daily_budget        amount,
  monthly_budget      amount,
  -- The sum of the holds of its keys.
  held                amount not null,
  -- The sums of the charges since the start of this day and since the first of this month (UTC).
  day                 date not null,
  day_charged         amount not null,
  month               date not null,
  month_charged       amount not null,
  -- As in account. 0 without a limit.
  request_level       bigint not null default 0,
  token_level         bigint not null default 0,
  level_at            timestamptz not null default clock_timestamp(),
  -- What instances have of it, in whole requests and tokens: of every kind, whether the key has such a limit or not, because it
  -- can get one. What their requests in flight can cost is in held.
  credit_lent         amount not null default 0 check (credit_lent >= 0),
  requests_lent       bigint not null default 0 check (requests_lent >= 0),
  tokens_lent         bigint not null default 0 check (tokens_lent >= 0),
  recalled_at         timestamptz,
  constraint key_limit_is_valid check (
    least(daily_budget, monthly_budget, held, day_charged, month_charged, request_level, token_level) >= 0
    and num_nonnulls(requests_per_minute, tokens_per_minute, daily_budget, monthly_budget) > 0)
) with (fillfactor = 50);
create index on key_limit (account_id);

create table api_key (
  id             uuid primary key,
  public_id      text not null unique,
  secret_hash    bytea not null check (length(secret_hash) = 32),
  account_id     uuid references account,
  name           label not null,
  -- Null: every model.
  allowed_models text[],
  created_at     timestamptz not null default now(),
  expires_at     timestamptz,
  revoked_at     timestamptz,
  -- The key that rotation made; this key is then valid until expires_at.
  replaced_by    uuid references api_key,
  -- To the minute.
  last_used_at   timestamptz,
  -- Who has it as a scratch key, to call the API from the documentation. Such a key has no text: its secret_hash is
  -- random, so no request can carry it.
  person_id      uuid references person,
  limit_id       uuid references key_limit
);
create index on api_key (account_id);
create index on api_key (limit_id) where limit_id is not null;
-- A person has one scratch key of an account at a time, besides those that were revoked.
create unique index on api_key (person_id, account_id) where person_id is not null and revoked_at is null;
create trigger issued after insert on api_key for each row execute function keep_issue();
alter table key_limit enable row level security;
alter table api_key enable row level security;
select with_roles($$
  grant select (id, account_id, requests_per_minute, tokens_per_minute, daily_budget, monthly_budget, held, day, day_charged, month,
    month_charged) on key_limit to {developer};
  grant select (id, public_id, account_id, name, allowed_models, created_at, expires_at, revoked_at, replaced_by, last_used_at, person_id,
    limit_id) on api_key to {developer};
$$);

-- What the requests of some keys, or those with a tag, may cost in each period. Every function that writes a row, or decides by it, has
-- locked the row's account before it reads the row.
create table budget (
  id           uuid primary key,
  account_id   uuid not null references account,
  name         label not null,
  -- The tag of its requests. Null: it is of the keys in budget_key.
  tag_name     text check (length(tag_name) between 1 and 64),
  tag_value    text check (length(tag_value) <= 128),
  period       text not null check (period in ('day', 'week', 'month', 'total')),
  -- Where its periods begin at midnight.
  time_zone    text not null,
  -- Whether it refuses requests. Otherwise it is only counted.
  hard         boolean not null,
  amount       amount not null,
  -- What is added to the amount until a time.
  raised_by    amount,
  raised_until timestamptz,
  created_at   timestamptz not null default now(),
  -- The current period, and the sum of the charges since it began.
  began_at     timestamptz not null,
  ends_at      timestamptz not null,
  charged      amount not null,
  -- The sum of the holds of its requests, with those that instances have placed against what was lent to them.
  held         amount not null,
  -- What is lent to instances and not held.
  credit_lent  amount not null default 0,
  recalled_at  timestamptz,
  -- The time of its last charge, or a later one. A period that begins after it has no charges, so their sum need not be read.
  last_charged_at timestamptz,
  constraint budget_is_valid check (
    least(amount, raised_by, charged, held, credit_lent) >= 0
    and (tag_name is null) = (tag_value is null) and (raised_by is null) = (raised_until is null))
) with (fillfactor = 50);
create unique index budget_name on budget (account_id, lower(normalize(name, nfkc)));
create index on budget (account_id, tag_name, tag_value);

-- The keys that share a budget. Each belongs to its account. A key that replaces another one joins the budgets of that one.
create table budget_key (
  budget_id uuid not null references budget on delete cascade,
  key_id    uuid not null references api_key,
  primary key (budget_id, key_id)
);
create index on budget_key (key_id);

alter table budget enable row level security;
alter table budget_key enable row level security;
select with_roles($$
  grant select (id, account_id, name, tag_name, period, time_zone, hard, amount, raised_by, raised_until, created_at, began_at, ends_at,
    charged, held) on budget to {developer};
  grant select on budget_key to {developer};
$$);

-- The account and secret of each key when it was issued. Neither ever changes.
create table key_issue (
  number      bigint generated always as identity primary key,
  key_id      uuid not null unique,
  account_id  uuid,
  secret_hash bytea not null,
  at          timestamptz not null default clock_timestamp()
);
create trigger append_only before update or delete or truncate on key_issue for each statement execute function refuse_change();
revoke update, delete, truncate on key_issue from current_user;

-- Millionths of the currency unit per million tokens, which is 10⁻¹² units per token. A new price is a new row. Only a
-- scheduled price waits for the clock to reach valid_from, so that a clock set back leaves the other prices in force.
create table price (
  model        text not null,
  valid_from   timestamptz not null,
  scheduled    boolean not null default false,
  input        bigint not null check (input >= 0),
  -- 0 for models of embeddings, which have no output.
  output       bigint not null,
  -- The audit log has who set it.
  source       text not null check (source in ('configuration', 'command', 'portal')),
  number       bigint generated always as identity unique,
  -- Null: as input.
  cached_input bigint,
  cache_write  bigint,
  -- What it says besides, as in the configuration: prices by prompt length, service tier and region, of longer cache writes, per image and
  -- per use of a tool. Null: the four prices alone.
  rules        jsonb,
  primary key (model, valid_from),
  constraint output_costs_more check (output > input or output = 0),
  constraint cached_costs_no_more check (cached_input between 0 and input),
  constraint cache_write_is_price check (cache_write >= 0)
);
create trigger numbered_in_order before insert on price for each statement execute function take_transaction_id();
create trigger append_only before update or delete or truncate on price for each statement execute function refuse_change();
revoke update, delete, truncate on price from current_user;

-- The currency of the amounts in this database. At most one row; the first start writes it.
create table books_currency (
  only_row boolean primary key default true check (only_row),
  currency text not null check (currency ~ '^[A-Z]{3}$')
);

-- # The till
--
-- till() settles and admits request by request. For an account in steady use an instance takes an allowance, a small part
-- of the limits and the credit, in advance. It admits from the allowance in memory, and reports charges and what it has
-- left with exchange_moving(). An allowance counts as used until it is returned, so a crash cannot make an account exceed a
-- limit or its credit (docs/decisions/0007-allowances.md). Its charges are only appended to the ledger with append_charges();
-- fold_charges() adds them to the sums (docs/decisions/0028-appended-charges.md).
--
-- One call carries a batch of one instance in one transaction. It locks the instance's row and then the batch's accounts
-- in id order, as reap() does, so the functions cannot deadlock. Items of till() are idempotent: an admission is
-- recognised by its hold, a settlement by its ledger row. Charges of an exchange are not: after a lost connection the
-- instance looks for them in the ledger before it sends them again. tests/support/till-model.ts states the same rules in
-- TypeScript, and a property test compares the two.
--
-- The database's clock may step in either direction. Each call reads it once, after locking the accounts, so a time in
-- the future means that the clock was set back. Nothing waits for the clock to catch up:
--   * A bucket refills by the time since level_at, from none to a minute, and level_at is set to now.
--   * month_charged is summed from the roll-ups again whenever the month changes, in either direction. An appended charge counts in the
--     sums of its own day, whenever it is folded.
--   * Lending is suspended only while recalled_at lies within the last two seconds.
--   * Leases do not use this clock: an instance is reaped if another sees it send nothing for 20 s of its own time.

create sequence ledger_number;
create table instance (
  id         uuid primary key,
  host       text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at    timestamptz not null default clock_timestamp(),
  -- The number of the last batch applied. An older batch that arrives late is refused.
  last_batch bigint not null default 0,
  number     integer not null generated always as identity,
  -- The ledger's number of its last charge that is in the sums, and what it has appended since: how many charges, and their earliest time.
  folded     bigint not null default coalesce(pg_sequence_last_value('ledger_number'), 0),
  appended   integer not null default 0,
  appended_since timestamptz
) with (fillfactor = 50);

-- The most that a request in flight can cost, held until the request is settled or its instance is reaped. Either a key
-- or a person spends. hold, ledger and usage_day have no foreign keys, for speed: `tollgate verify` checks them instead.
create table hold (
  id                uuid primary key,
  account_id        uuid not null,
  key_id            uuid,
  person_id         uuid,
  instance_id       uuid not null,
  model             text not null,
  client_id         uuid,
  input_tokens      integer not null,
  max_output_tokens integer not null,
  input_price       bigint not null,
  output_price      bigint not null,
  cost              amount not null,
  idempotency_key   text,
  created_at        timestamptz not null,
  cached_price      bigint,
  cache_write_price bigint,
  constraint hold_is_valid check (input_tokens >= 0 and max_output_tokens >= 0 and cost >= 0
    and (key_id is null) <> (person_id is null))
);

-- An instance's allowance, as last reported: the most that its requests in flight can cost, and what it may still admit.
-- Requests and tokens are in 1/60 000 000.
create table allowance (
  instance_id uuid not null,
  account_id  uuid not null,
  held        amount not null check (held >= 0),
  credit      amount not null check (credit >= 0),
  requests    bigint not null check (requests >= 0),
  tokens      bigint not null check (tokens >= 0),
  primary key (instance_id, account_id)
) with (fillfactor = 50);

-- What an instance has of one row of key_limit. When the limits are removed, so is this: the instance then has nothing to return.
create table key_allowance (
  instance_id uuid not null,
  limit_id    uuid not null references key_limit on delete cascade,
  -- The most that its requests in flight can cost.
  held        amount not null check (held >= 0),
  credit      amount not null check (credit >= 0),
  requests    bigint not null check (requests >= 0),
  -- With those that its requests in flight may still return.
  tokens      bigint not null check (tokens >= 0),
  primary key (instance_id, limit_id)
) with (fillfactor = 50);
create index on key_allowance (limit_id);

-- What an instance has of a budget, as in key_allowance. When the budget is removed, so is this.
create table budget_allowance (
  instance_id uuid not null,
  budget_id   uuid not null references budget on delete cascade,
  held        amount not null check (held >= 0),
  credit      amount not null check (credit >= 0),
  primary key (instance_id, budget_id)
) with (fillfactor = 50);
create index on budget_allowance (budget_id);

-- The tags of a hold, of an account with budgets of tags. A table of its own, so that the rows of others stay as they are.
create table tagged_hold (
  hold_id    uuid primary key,
  account_id uuid not null,
  tags       jsonb not null
) with (fillfactor = 50);
create index on tagged_hold (account_id);

-- Input tokens are those that were neither read from the vendor's prompt cache nor written to it. Where a kind has no price of its own
-- (null), it is charged as input.
create table ledger (
  at                 timestamptz not null,
  request_id         uuid not null,
  account_id         uuid not null,
  key_id             uuid,
  person_id          uuid,
  model              text not null,
  client_id          uuid,
  input_tokens       integer not null,
  output_tokens      integer not null,
  input_price        bigint not null,
  output_price       bigint not null,
  cost               amount not null,
  stop_reason        text not null,
  usage_source       usage_source not null,
  -- Tokens the model reported beyond the hold that neither the credit nor the limits covered. They cost nothing. uncharged_input counts
  -- the three kinds of input together.
  uncharged_input    integer not null default 0,
  uncharged_output   integer not null default 0,
  -- PostgreSQL 15 and 16 have no identity columns in partitions.
  number             bigint not null default nextval('ledger_number'),
  -- How long the request took until it was charged, in ms, as its instance measured it. Null for rows of version 0.2.0.
  milliseconds       integer,
  cached_tokens      integer not null default 0,
  cache_write_tokens integer not null default 0,
  cached_price       bigint,
  cache_write_price  bigint,
  -- What the caller said the request was for: pairs of a name and a value. Null without any.
  tags               jsonb,
  -- The instance whose row counts the charge as appended. Null: its sums were written with it.
  instance           integer,
  -- How the rules of the price applied, and what was charged by them besides the four kinds of tokens. Null: the price had none.
  terms              jsonb,
  primary key (request_id, at),
  constraint ledger_is_valid check (input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0
    and cache_write_tokens >= 0 and uncharged_input >= 0 and uncharged_output >= 0 and (key_id is null) <> (person_id is null)
    and cost = input_tokens::numeric * input_price + output_tokens::numeric * output_price
      + cached_tokens::numeric * coalesce(cached_price, input_price)
      + cache_write_tokens::numeric * coalesce(cache_write_price, input_price)
      + coalesce((terms ->> 'cost')::numeric, 0))
) partition by range (at);
alter sequence ledger_number owned by ledger.number;
create index on ledger (account_id, at);
-- Rows lie in the order of their numbers, so the index is small and costs writers next to nothing.
create index ledger_by_number on ledger using brin (number) with (pages_per_range = 32, autosummarize = on);
create trigger append_only before update or delete or truncate on ledger for each statement execute function refuse_change();
revoke update, delete, truncate on ledger from current_user;
create table ledger_default partition of ledger default;
select ledger_partitions((now() at time zone 'UTC')::date, ((now() at time zone 'UTC') + interval '3 months')::date);

create table usage_day (
  day                date not null,
  account_id         uuid not null,
  key_id             uuid,
  person_id          uuid,
  model              text not null,
  client_id          uuid,
  requests           bigint not null,
  input_tokens       bigint not null,
  output_tokens      bigint not null,
  cost               amount not null,
  cached_tokens      bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  unique nulls not distinct (account_id, day, key_id, person_id, model, client_id)
) with (fillfactor = 50);
-- Pages about the whole firm read spans of days.
create index usage_day_by_day on usage_day (day);
-- What a client has cost, by month and by letter, without reading the usage of other clients.
create index usage_day_by_client on usage_day (client_id, day) where client_id is not null;

-- The charges of a client are for those who may see the client. The owner, which runs the till, is exempt.
alter table ledger enable row level security;
alter table usage_day enable row level security;
select with_roles($$
  create policy of_client on ledger for select to {consultant}, {partner}
    using (exists (select from client where client.id = ledger.client_id));
  create policy of_client on usage_day for select to {consultant}, {partner}
    using (exists (select from client where client.id = usage_day.client_id));
  grant select (request_id, model, client_id, input_tokens, output_tokens, cost, stop_reason, cached_tokens, cache_write_tokens)
    on ledger to {consultant}, {partner};
  grant select (day, person_id, client_id, requests, input_tokens, output_tokens, cost, cached_tokens, cache_write_tokens)
    on usage_day to {consultant}, {partner};
  grant select (person_id) on ledger to {partner};
  grant select (key_id) on usage_day to {partner};
  -- Of the accounts that they are granted: neither people nor clients, and no tags.
  grant select (at, request_id, account_id, key_id, model, input_tokens, output_tokens, cost, stop_reason, milliseconds, cached_tokens,
    cache_write_tokens) on ledger to {developer};
  grant select (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost, cached_tokens, cache_write_tokens)
    on usage_day to {developer};
$$);

-- The daily sums of the requests with tags, by account and set of tags. Apart from usage_day, so that an account that uses many
-- different tags slows down only the reports of its tags. The digest is that of the text of the tags, which can be longer than
-- an index allows.
create table tag_day (
  day                date not null,
  account_id         uuid not null,
  digest             bytea not null,
  tags               jsonb not null,
  requests           bigint not null,
  input_tokens       bigint not null,
  output_tokens      bigint not null,
  cached_tokens      bigint not null,
  cache_write_tokens bigint not null,
  cost               amount not null,
  primary key (account_id, day, digest)
) with (fillfactor = 50);
create index on tag_day (day);

-- The reply to a request with an idempotency key, kept for 24 hours. body is null while that request runs.
create table idempotency (
  account_id   uuid not null,
  key          text not null check (length(key) between 1 and 255),
  request_hash text not null,
  hold_id      uuid not null,
  created_at   timestamptz not null,
  headers      jsonb,
  body         text,
  -- A stored reply never changes. Its digest is written with it, and is null if it was stored before this column.
  digest       bytea,
  primary key (account_id, key)
);
create index on idempotency (created_at);
create trigger digested before update of body on idempotency for each row when (old.body is null) execute function keep_reply_digest();

-- Requests with a key that were refused or failed, and so charged nothing. Counted exactly; model is null if the request
-- names none that is known.
create table refusal_day (
  day        date not null,
  account_id uuid not null,
  key_id     uuid not null,
  model      text,
  code       text not null,
  requests   bigint not null check (requests > 0),
  unique nulls not distinct (day, account_id, key_id, model, code)
) with (fillfactor = 50);
create index on refusal_day (account_id, day);

-- The last batch of counts that an instance added. A batch that is sent again after a lost connection counts once.
create table refusal_batch (
  source uuid primary key,
  number bigint not null,
  at     timestamptz not null default now()
);

-- Some of those requests, for the log: at most a few per second of each instance, for 30 days.
create table refused_request (
  request_id   uuid primary key,
  at           timestamptz not null,
  account_id   uuid not null,
  key_id       uuid not null,
  model        text,
  status       integer not null,
  code         text not null,
  milliseconds integer not null,
  -- Why it was refused, without any text of a customer: the field, the reason, the route, the dialect, the caller's program and whether
  -- it asked for a stream. Null for requests of versions before this column.
  call         jsonb
);
create index on refused_request (at);
create index on refused_request (account_id, request_id);
alter table refusal_day enable row level security;
alter table refused_request enable row level security;
select with_roles('grant select on refusal_day, refused_request to {developer}');

-- # Batches

-- A file of lines that a caller has uploaded for a batch. What it is called and says is encrypted.
create table batch_file (
  id          uuid primary key,
  account_id  uuid not null references account,
  name        bytea not null,
  bytes       bigint not null default 0,
  lines       integer not null default 0,
  created_at  timestamptz(3) not null default clock_timestamp(),
  -- Null while it arrives: nobody sees it.
  uploaded_at timestamptz(3),
  expires_at  timestamptz not null
);
create index on batch_file (account_id, created_at);
create index on batch_file (expires_at);

create table batch_file_line (
  file_id   uuid not null references batch_file on delete cascade,
  -- Of the file: empty lines have no row.
  number    integer not null,
  content   bytea not null,
  -- The client that it names.
  client_id uuid,
  primary key (file_id, number)
);
create index on batch_file_line (client_id) where client_id is not null;

create table batch (
  id            uuid primary key,
  account_id    uuid not null references account,
  -- The key that pays: it must be valid whenever a line is taken.
  key_id        uuid not null references api_key,
  dialect       text not null check (dialect in ('openai', 'anthropic')),
  endpoint      text not null,
  -- The file from which its lines were copied, which may be gone. Null: they came with the request.
  file_id       uuid,
  -- The caller's pairs of names and values. Encrypted.
  metadata      bytea,
  -- `arriving`: its lines are not complete, and nobody sees it.
  status        text not null default 'arriving'
    check (status in ('arriving', 'in_progress', 'cancelling', 'completed', 'failed', 'cancelled', 'expired')),
  -- Why it failed: [{code, line, field, reason}], without any text of a customer.
  errors        jsonb,
  lines         integer not null default 0,
  succeeded     integer not null default 0,
  failed        integer not null default 0,
  bytes         bigint not null default 0,
  created_at    timestamptz(3) not null default clock_timestamp(),
  -- What has not begun then is not run.
  expires_at    timestamptz not null,
  cancelling_at timestamptz(3),
  ended_at      timestamptz(3),
  -- How long its results are kept after its end.
  kept          interval not null,
  -- Until when they are kept. Null: they are gone, or it has not ended.
  results_until timestamptz,
  -- The ids under which the results are files. Null: there are none.
  output_id     uuid,
  error_id      uuid,
  -- When an instance last took lines of it, and from when on it may take more.
  taken_at      timestamptz not null default clock_timestamp(),
  next_at       timestamptz not null default clock_timestamp(),
  -- What it waits for until then.
  waits_for     text check (waits_for in ('limits', 'credit', 'model')),
  -- Whether its replies, and its errors, were downloaded completely.
  output_read   boolean not null default false,
  errors_read   boolean not null default false,
  constraint batch_is_valid check (least(succeeded, failed, lines - succeeded - failed) >= 0)
);
create index on batch (account_id, created_at);
create index on batch (taken_at) where status in ('in_progress', 'cancelling');
create index on batch (output_id) where output_id is not null;
create index on batch (error_id) where error_id is not null;
alter table batch enable row level security;
select with_roles($$
  -- How far it is, and nothing of its caller's.
  grant select (id, account_id, dialect, status, lines, succeeded, failed, created_at, expires_at, ended_at, results_until, next_at, waits_for)
    on batch to {developer};
$$);

create table batch_line (
  batch_id   uuid not null references batch on delete cascade,
  number     integer not null,
  -- As in its file. Encrypted; null once there is a result.
  content    bytea,
  state      text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed')),
  tries      smallint not null default 0,
  -- The request of its last try, unless that is known not to be charged.
  request_id uuid,
  -- When its instance last said that it is running.
  claimed_at timestamptz,
  -- As it is downloaded. Encrypted.
  result     bytea,
  -- The client that it names. Of one that was erased, neither content nor result is left.
  client_id  uuid,
  -- When it last began to wait for its model or for credit: it then comes after the lines that did not have to.
  waited_at  timestamptz,
  primary key (batch_id, number)
);
create index on batch_line (batch_id, waited_at nulls first, number) where state in ('queued', 'running');
create index on batch_line (claimed_at) where state = 'running';
create index on batch_line (client_id) where client_id is not null;
create trigger not_of_erased before insert on batch_line for each row when (new.client_id is not null) execute function skip_erased();

-- What live requests have left of the limits of an account, or of the keys with limits of their own, for requests in the background: see take_spare().
-- In 60 millionths; negative after a request of more tokens than are ever left.
create table spare (
  id       uuid primary key,
  at       timestamptz not null,
  requests bigint not null,
  tokens   bigint not null
) with (fillfactor = 50);

-- # Alerts when an account has used a share of its credit or of its monthly limit

-- Where alerts about an account go: one address for mail, or one webhook.
create table alert_rule (
  id         uuid primary key,
  account_id uuid not null references account,
  shares     smallint[] not null check (cardinality(shares) <= 10),
  email      text,
  webhook    text,
  -- Encrypted.
  secret     bytea,
  created_at timestamptz not null default now(),
  -- Attempts stay listed.
  removed_at timestamptz,
  check (num_nonnulls(email, webhook) = 1 and (webhook is null) = (secret is null))
);
create index on alert_rule (account_id);

-- The rules that also report the end of each batch of their account: alert_batch_end().
create table batch_alert (
  rule_id uuid primary key references alert_rule
);

-- One row per rule, share and period: an alert is sent once, on any number of instances.
create table alert (
  id         uuid primary key default gen_random_uuid(),
  rule_id    uuid not null references alert_rule,
  -- The month and its limit, the credit and where it began, the budget with its period and limit, or the batch; a text of its own for a test.
  period     text not null,
  -- Null for a batch and for a test.
  share      smallint,
  used       amount not null,
  of         amount not null,
  created_at timestamptz(3) not null default now(),
  tries      integer not null default 0,
  next_at    timestamptz not null default now(),
  -- `passed`: a higher share was reached at the same time, and only that one is sent.
  ended      text check (ended in ('sent', 'given_up', 'passed')),
  -- The budget that it is about, and its name then. Null: it is about the account.
  budget_id  uuid,
  budget     label,
  -- The batch whose end it reports, as it was then: {id, dialect, status, lines, succeeded, failed}. Its caller can remove it before the alert is sent.
  batch      jsonb,
  unique nulls not distinct (rule_id, period, share)
);
create index on alert (next_at) where ended is null;

create table alert_attempt (
  id       uuid primary key default gen_random_uuid(),
  alert_id uuid not null references alert,
  at       timestamptz(3) not null default clock_timestamp(),
  outcome  text not null check (outcome in ('queued', 'sent', 'failed', 'given_up')),
  -- Why it failed: a status or a code, never text of the receiver.
  error    text
);
create index on alert_attempt (alert_id);

-- # Invoices
--
-- Invoices to accounts and clients, with their lines and payments. Only partners reach them. Amounts are in 10⁻¹² of the
-- currency unit. `net`, `tax` and `gross` are whole numbers of the currency's minor unit; `exact` is not rounded.

-- The last number of each series, by the text around the number: `INV-2026-{number}`. It only grows, by one, in the transaction
-- that issues the invoice.
create table invoice_series (
  name text primary key check (name like '%{number}%' and length(name) <= 60),
  last bigint not null
);
create trigger kept before insert or update or delete on invoice_series for each row execute function keep_invoice_series();
create trigger not_emptied before truncate on invoice_series for each statement execute function refuse_change();

create table invoice (
  id               uuid primary key,
  kind             text not null default 'invoice' check (kind in ('invoice', 'credit_note')),
  -- Whether it is paid follows from its payments and credit notes, and is not stored.
  state            text not null default 'draft' check (state in ('draft', 'issued', 'void')),
  -- Who pays: either an account or a client.
  account_id       uuid references account,
  client_id        uuid references client,
  -- The month of the account whose usage it bills, by its first day (UTC).
  month            date check (extract(day from month) = 1),
  -- The invoice that a credit note corrects.
  credits_id       uuid references invoice,
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  -- The decimals of the currency's minor unit.
  decimals         smallint not null check (decimals between 0 and 4),
  note             text not null default '' check (length(note) <= 2000),
  -- Null in a draft: as the account or the client has it when the invoice is issued.
  buyer_name       text check (length(buyer_name) between 1 and 200),
  buyer_address    text check (length(buyer_address) between 1 and 500),
  buyer_tax_number text check (length(buyer_tax_number) between 1 and 50),
  net              amount not null check (net >= 0),
  tax              amount not null check (tax >= 0),
  gross            amount not null,
  -- [{category, rate, reason, net, tax}]: one for each category and rate. Amounts are texts.
  taxes            jsonb not null check (jsonb_typeof(taxes) = 'array'),
  -- Set when it is issued.
  number           text unique check (length(number) between 1 and 60),
  series           text references invoice_series,
  series_number    bigint,
  seller           jsonb,
  issued_on        date,
  due_on           date,
  issued_at        timestamptz(3),
  issued_by        uuid references person,
  created_at       timestamptz(3) not null default record_time(),
  created_by       uuid default portal_person() references person,
  updated_at       timestamptz(3) not null default record_time(),
  updated_by       uuid default portal_person() references person,
  version          integer not null default 1,
  -- The days of supply, which the law requires on every invoice and credit note. Before the issue, only what a person states;
  -- then they are frozen. Null in invoices that were issued before these columns.
  supply_from      date,
  supply_to        date,
  -- The parts of buyer_address, {street, extra, postcode, city, country}; null if it was written in a draft.
  buyer_place      jsonb check (buyer_place is null or (jsonb_typeof(buyer_place) = 'object' and buyer_address is not null)),
  buyer_reference  text check (length(buyer_reference) between 1 and 100),
  order_number     text check (length(order_number) between 1 and 100),
  -- Null in a draft: as the configuration has it when the invoice is issued.
  days_to_pay      integer check (days_to_pay between 0 and 365),
  -- The client's billing_language when the draft was made. An issued invoice has its locale in the seller, as it always had.
  language         text check (language in ('de', 'en', 'fr')),
  constraint invoice_is_valid check ((account_id is null) <> (client_id is null) and gross = net + tax
    and (month is null or (account_id is not null and kind = 'invoice'))
    and (kind = 'credit_note') = (credits_id is not null)
    and case when state = 'issued'
      then num_nulls(number, series, series_number, seller, buyer_name, issued_at) = 0 and due_on >= issued_on
      else num_nonnulls(number, series, series_number, seller, issued_on, due_on, issued_at, issued_by) = 0 end),
  constraint invoice_supply_is_valid check ((supply_from is null) = (supply_to is null) and supply_from <= supply_to),
  unique (series, series_number)
);
create index on invoice (account_id, id) where account_id is not null;
create index on invoice (client_id, id) where client_id is not null;
create index on invoice (credits_id) where credits_id is not null;
-- Invoices are found by parts of their number and of the payer's name, and exactly by their number. A draft that states no buyer is found
-- by its payer's record.
create index invoice_spelling on invoice
  using gin ((spelling(coalesce(number, '') || ' ' || coalesce(buyer_name, ''))) gin_trgm_ops);
create index invoice_lower_number on invoice (lower(number));
create index invoice_without_buyer on invoice (id) where buyer_name is null;
create trigger kept before insert or update or delete on invoice for each row execute function keep_invoice();
create trigger not_emptied before truncate on invoice for each statement execute function refuse_change();
create trigger not_of_erased before insert on invoice for each row
  when (new.client_id is not null and new.kind = 'invoice') execute function skip_erased();
create trigger billed after insert on invoice for each row when (new.month is not null) execute function mark_billed_month();
create trigger unbilled after update on invoice for each row
  when (new.state = 'void' and old.state <> 'void') execute function free_void_invoice();
create trigger issued after update on invoice for each row
  when (new.state = 'issued') execute function keep_issued_invoice();

create table invoice_line (
  invoice_id       uuid not null references invoice,
  position         integer not null check (position between 1 and 10000),
  -- usage: tokens, images or searches of one model, direction and price in the month. fee: typed. credit: of a credit note. letters: those of a month.
  source           text not null check (source in ('usage', 'fee', 'credit', 'time', 'expense', 'letters')),
  text             text not null check (length(text) between 1 and 500),
  -- In 10⁻⁶ of the unit.
  quantity         amount not null check (quantity > 0),
  unit             text not null
    check (unit in ('hour', 'day', 'month', 'piece', 'kilometre', 'million_tokens', 'minute', 'lump_sum', 'thousand_uses')),
  -- In 10⁻⁶ of the currency unit, so that quantity times price is in 10⁻¹².
  unit_price       amount not null check (unit_price >= 0),
  exact            amount not null,
  net              amount not null,
  -- A category of UNCL 5305, and the rate in hundredths of a per cent.
  tax_category     text not null check (tax_category in ('S', 'Z', 'E', 'AE', 'K', 'G', 'O')),
  tax_rate         integer not null check (tax_rate between 0 and 10000),
  tax_reason       text check (length(tax_reason) between 1 and 200),
  model            text,
  direction        text
    check (direction in ('input', 'output', 'cached_input', 'cache_write', 'cache_write_1h', 'image', 'web_search')),
  -- The line of the invoice that a credit note credits.
  credits_position integer,
  -- The time entry or the expense that the line bills, and its version, which is frozen meanwhile.
  entry_id         uuid,
  entry_version    integer,
  -- The month (UTC) of letters, by its first day, and the mark-up on their cost in hundredths of a per cent.
  month            date check (extract(day from month) = 1),
  markup           integer check (markup between 0 and 100000),
  primary key (invoice_id, position),
  constraint line_is_valid check (exact = half_even(quantity * unit_price, price_base(unit))
    and (tax_category = 'S') = (tax_rate > 0) and (tax_category in ('S', 'Z')) = (tax_reason is null)
    and (source = 'usage') = (model is not null) and (source = 'usage') = (direction is not null)
    and (source = 'credit') = (credits_position is not null)
    and (source in ('time', 'expense')) = (entry_id is not null) and (entry_id is null) = (entry_version is null)
    and (source = 'letters') = (month is not null) and (month is null) = (markup is null))
);
create trigger kept before insert or update or delete on invoice_line for each row execute function keep_invoice_line();
create trigger not_emptied before truncate on invoice_line for each statement execute function refuse_change();
create trigger of_entry before insert on invoice_line for each row
  when (new.source in ('time', 'expense')) execute function check_billed_entry();
create trigger billed after insert on invoice_line for each row
  when (new.source in ('time', 'expense', 'letters')) execute function mark_billed_line();
create trigger unbilled after delete on invoice_line for each row
  when (old.source in ('time', 'expense', 'letters')) execute function mark_billed_line();
-- The change of a draft changes its invoice too, which is recorded.
create constraint trigger announced after insert or delete or update on invoice_line deferrable initially deferred
  for each row execute function record_unannounced();

-- Append-only. A mistake is taken back by a payment of the opposite amount that names it.
create table invoice_payment (
  number      bigint generated always as identity primary key,
  id          uuid not null unique,
  invoice_id  uuid not null references invoice,
  date        date not null,
  -- Negative: money that was returned, or a payment taken back.
  amount      amount not null check (amount <> 0),
  method      text not null check (method in ('transfer', 'card', 'cash', 'direct_debit', 'other')),
  reference   text not null default '' check (length(reference) <= 200),
  reverses_id uuid unique,
  at          timestamptz(3) not null default record_time(),
  by          uuid default portal_person() references person
);
create index on invoice_payment (invoice_id);
create trigger kept before insert on invoice_payment for each row execute function keep_invoice_payment();
create trigger numbered_in_order before insert on invoice_payment for each statement execute function take_transaction_id();

-- Every invoice as it was issued. Written by a trigger and sealed.
create table invoice_issue (
  number     bigint generated always as identity primary key,
  invoice_id uuid not null unique references invoice,
  at         timestamptz not null default clock_timestamp(),
  document   jsonb not null
);

-- The monthly run of invoices: which months were run, so that one is run once by several instances and none is missed.
-- Whether an account is billed is not decided here but by billed_month.
create table invoice_run (
  -- By its first day (UTC).
  month       date primary key check (extract(day from month) = 1),
  started_at  timestamptz(3) not null default clock_timestamp(),
  -- An instance works on it and extends this time. After it, another instance continues.
  busy_until  timestamptz(3) not null,
  finished_at timestamptz(3)
);

-- The file of an invoice as it was first sent. Later mails of the invoice have the same one.
create table invoice_file (
  invoice_id uuid primary key references invoice,
  name       text not null check (length(name) between 1 and 200),
  content    bytea not null,
  digest     bytea not null check (digest = sha256(content)),
  at         timestamptz(3) not null default record_time()
);

-- Invoices and reminders as mail to the payer, with what was sent.
create table invoice_mail (
  number        bigint generated always as identity primary key,
  id            uuid not null unique,
  invoice_id    uuid not null references invoice,
  kind          text not null check (kind in ('invoice', 'reminder')),
  -- Of an automatic reminder: the days after the due date, from the configuration.
  reminder_days integer check (reminder_days is null or kind = 'reminder'),
  recipient     text not null check (length(recipient) between 3 and 254),
  copy_to       text check (length(copy_to) between 3 and 254),
  subject       text not null check (length(subject) between 1 and 200),
  message       text not null check (length(message) between 1 and 5000),
  -- Of the file in invoice_file.
  digest        bytea not null check (length(digest) = 32),
  at            timestamptz(3) not null default record_time(),
  by            uuid default portal_person() references person,
  unique (invoice_id, reminder_days)
);
create index on invoice_mail (invoice_id, number);
create trigger numbered_in_order before insert on invoice_mail for each statement execute function take_transaction_id();

-- How each mail ended. A reference to it would need the right to change it. `withdrawn`: nothing was open when the reminder was to be sent.
create table invoice_mail_end (
  mail_id uuid primary key,
  state   text not null default 'waiting' check (state in ('waiting', 'queued', 'sent', 'given_up', 'withdrawn')),
  at      timestamptz(3) not null default record_time()
);
create index on invoice_mail_end (mail_id) where state = 'waiting';

-- What is billed: on an invoice that is neither void nor credited in full. Written by triggers. Here the months of accounts, then the
-- entries, and the months of clients' letters.
create table billed_month (
  account_id uuid not null references account,
  month      date not null,
  invoice_id uuid not null unique references invoice,
  primary key (account_id, month)
);
create trigger kept before update or delete on billed_month for each row execute function keep_billed_month();
create trigger not_emptied before truncate on billed_month for each statement execute function refuse_change();
create trigger listed after insert or delete on billed_month for each row execute function list_billed_month();

create table billed_entry (
  entry_id   uuid primary key,
  invoice_id uuid not null references invoice
);
create index on billed_entry (invoice_id);
create trigger kept before update or delete on billed_entry for each row execute function keep_billed();
create trigger not_emptied before truncate on billed_entry for each statement execute function refuse_change();
create trigger listed after insert or delete on billed_entry for each row execute function list_billed_entry();

create table billed_letters (
  client_id  uuid not null references client,
  month      date not null,
  invoice_id uuid not null references invoice,
  primary key (client_id, month)
);
create index on billed_letters (invoice_id);
create trigger kept before update or delete on billed_letters for each row execute function keep_billed();
create trigger not_emptied before truncate on billed_letters for each statement execute function refuse_change();
create trigger listed after insert or delete on billed_letters for each row execute function list_billed_letters();

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

do $$
declare
  v_table text;
begin
  foreach v_table in array array['invoice_series', 'invoice', 'invoice_line', 'invoice_payment', 'invoice_issue', 'invoice_file',
    'invoice_mail', 'invoice_mail_end', 'billed_month', 'billed_entry', 'billed_letters', 'unbilled'] loop
    perform with_roles(replace('
      alter table {table} enable row level security, force row level security;
      create policy every on {table} to {partner} using (true);
      -- For functions that run as the owner, for seals, for proofs and for sending. The triggers bind the owner too.
      create policy owned on {table} to current_user using (true);
      grant select on {table} to {partner};
    ', '{table}', v_table));
  end loop;
  foreach v_table in array array['invoice_payment', 'invoice_issue', 'invoice_file', 'invoice_mail'] loop
    execute replace('
      create trigger append_only before update or delete or truncate on {table} for each statement execute function refuse_change();
      revoke update, delete, truncate on {table} from current_user;
    ', '{table}', v_table);
  end loop;
end $$;
select with_roles($$
  grant insert, update (last) on invoice_series to {partner};
  grant insert (id, kind, account_id, client_id, month, credits_id, currency, decimals, note, buyer_name, buyer_address,
      buyer_tax_number, net, tax, gross, taxes, supply_from, supply_to, buyer_place, buyer_reference, order_number, days_to_pay, language),
    update (state, note, buyer_name, buyer_address, buyer_tax_number, net, tax, gross, taxes, number, series, series_number, seller,
      issued_on, due_on, issued_at, issued_by, updated_at, updated_by, version, supply_from, supply_to, buyer_place, buyer_reference,
      order_number, days_to_pay) on invoice to {partner};
  grant insert, delete on invoice_line to {partner};
  grant insert (id, invoice_id, date, amount, method, reference, reverses_id) on invoice_payment to {partner};
  grant insert on invoice_file, invoice_mail, invoice_mail_end to {partner};
$$);

-- # The audit log and its proofs

-- A transaction has its id before its rows draw their numbers, so that no row can appear among sealed rows. That is the case where a
-- trigger writes the rows, and for the ledger, because the till updates its instance first. The other sealed tables have the trigger
-- `numbered_in_order`.
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
create index audit_by_action on audit (action, id);
create index audit_refused on audit (id) where outcome = 'refused';
create index audit_by_others on audit (actor, id) where actor <> 'person';
-- Without the rows that record only that something was shown.
create index audit_without_views on audit (id) where action !~ '(_read|_listed|_searched)$';
-- The changes on the home page.
create index audit_of_record_changes on audit (client_id, id)
  where outcome = 'allowed' and noun in ('client', 'note', 'dispute', 'letter')
    and action ~ '_(created|imported|changed|assigned|removed|archived|unarchived|restored|approved|sent)$';
create trigger noted before insert on audit for each row
  when (new.outcome = 'allowed' and new.action !~ '(_read|_listed|_searched)$') execute function note_event();
create trigger numbered_in_order before insert on audit for each statement execute function take_transaction_id();
create trigger append_only before update or delete or truncate on audit for each statement execute function refuse_change();

alter table audit enable row level security, force row level security;
-- The owner writes, seals and verifies the log, and revokes from itself the rights to change it.
create policy owned on audit for select to current_user using (true);
create policy owned_written on audit for insert to current_user with check (true);
revoke update, delete, truncate on audit from current_user;
select with_roles($$
  -- The actor comes from the transaction: its columns are not among those granted below.
  create policy written on audit for insert to {consultant}, {partner}
    with check (person_id is not distinct from (select portal_person()) and actor = (select portal_actor()));
  -- The consultant of a client sees allowed access to it. Refused access is only for partners.
  create policy own on audit for select to {consultant}
    using (outcome = 'allowed' and exists (select from client where client.id = audit.client_id));
  create policy every on audit for select to {partner} using (true);
  grant insert (action, outcome, client_id, noun, noun_id, request_id, address, details) on audit to {consultant}, {partner};
  grant select (id, at, action, outcome, person_id, client_id, noun, noun_id, details) on audit to {consultant};
  grant select on audit to {partner};
$$);

-- The rows of the audit log are numbered across the firm. The activity of one client shows these numbers encrypted, so that
-- the gaps do not reveal other activity. The key is created at the end of this file and copied with the database.
create table number_key (key bytea not null check (length(key) = 16));

-- Settings and the like: what decides about money or access, and is neither append-only nor the sum of something that is. Every
-- change to them commits with an event of the audit log. A trigger leaves a row here for each, which is sealed, so that `verify`
-- finds what was changed, added or removed in any other way: docs/decisions/0020-recorded-changes.md.
create table recorded_change (
  number     bigint generated always as identity primary key,
  table_name text not null,
  row_key    text not null,
  -- Of the row as it is now. Null: it was removed.
  digest     bytea check (length(digest) = 32),
  -- Four bytes of the digest of each column. They name the columns that differ.
  marks      jsonb,
  -- The last event of the same transaction.
  event      bigint,
  -- When the transaction began. What a migration records has the time of that migration, and no event.
  at         timestamptz not null default now()
);
create index on recorded_change (table_name, row_key, number);
create trigger append_only before update or delete or truncate on recorded_change for each statement execute function refuse_change();
revoke update, delete, truncate on recorded_change from current_user;

-- Seals prove that the rows of an append-only table are the rows that were written. A seal covers a range of row numbers
-- and is chained to the seal before it. Sealing runs in the background: writers do no extra work beyond drawing a number.

-- The tables that are sealed. upto, seals and hash repeat the last seal, so that a removed last seal leaves a trace, and no
-- second chain can begin over rows that were sealed before.
create table seal_chain (
  name   text primary key,
  -- The column that numbers the rows. It is drawn from a sequence, by transactions that already have their id.
  number text not null,
  seals  bigint not null default 0,
  upto   bigint not null default 0,
  hash   bytea not null default ''
);
create table seal (
  chain    text not null references seal_chain,
  number   bigint not null,
  -- The last row number that it covers. The first follows the previous seal's upto.
  upto     bigint not null,
  rows     bigint not null,
  -- Columns added to the table later are covered by later seals only.
  columns  text[] not null,
  at       timestamptz not null,
  digest   bytea not null check (length(digest) = 32),
  -- Eight bytes a row: its number less the previous seal's upto, and the first four bytes of its digest. They name the rows
  -- at fault once the seal's digest differs.
  marks    bytea not null,
  -- What the rows add to the checksum of the daily roll-ups; null for every table but the ledger.
  checksum numeric,
  hash     bytea not null check (length(hash) = 32),
  primary key (chain, number),
  unique (chain, upto)
);
create trigger append_only before update or delete or truncate on seal for each statement execute function refuse_change();
revoke update, delete, truncate on seal from current_user;

-- # Upgrades

-- The text of each function that was applied.
create table sql_function (
  name     text primary key,
  -- The SHA-256 of its file.
  checksum text not null
);

-- # The first rows

insert into seal_chain (name, number) values
  ('ledger', 'number'), ('credit_entry', 'number'), ('price', 'number'), ('key_issue', 'number'), ('revision', 'number'),
  ('audit', 'id'), ('invoice_issue', 'number'), ('invoice_payment', 'number'), ('erased_client', 'number'),
  ('invoice_mail', 'number'), ('recorded_change', 'number');
insert into number_key
  values (substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) from 1 for 16));

drop function with_roles(text);
