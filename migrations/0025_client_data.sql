-- A client's data: erasure after a waiting period.
--
-- Erasing a client removes its notes, disputes, letters and drafts, the contents of its revisions and of invoices that were
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
insert into seal_chain (name, number) values ('erased_client', 'number');
create trigger numbered_in_order before insert on erased_client for each statement execute function take_transaction_id();
create trigger append_only before update or delete or truncate on erased_client
  for each statement execute function refuse_change();

-- The digest that an erased revision had when it was sealed. Null if it was erased before that, or is not erased.
alter table revision add column erased bytea check (length(erased) = 32);

-- As in 0007_seals.sql, but a seal over a revision still matches once the revision is erased. A revision that was not
-- erased always has content.
create or replace function row_digests(p_table text, p_number text, p_columns text[], p_after bigint, p_upto bigint)
returns table (number bigint, digest bytea)
language plpgsql stable
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set bytea_output = 'hex'
set jit = off set search_path from current
as $$
declare
  v_digest text := format('sha256(convert_to(row(%s)::text, ''UTF8''))', (select string_agg(format('t.%I', name), ', '
    order by place) from unnest(p_columns) with ordinality as c(name, place)));
begin
  if p_table = 'revision' then
    v_digest := format('coalesce(case when t.data = ''{}'' then t.erased end, %s)', v_digest);
  end if;
  return query execute format($query$ select t.%1$I, %3$s from %2$I t where t.%1$I > $1 and t.%1$I <= $2 $query$,
    p_number, p_table, v_digest)
  using p_after, p_upto;
end $$;

-- What is left of an erased revision, for `remains`.
create function remains_of(p_revision revision) returns bytea language sql stable set timezone = 'UTC'
set search_path from current as $$
  select sha256(convert_to(jsonb_build_array(p_revision.number, p_revision.noun, p_revision.noun_id, p_revision.version,
    p_revision.client_id, p_revision.at, p_revision.person_id, p_revision.archived,
    encode(p_revision.erased, 'hex'))::text, 'UTF8'))
$$;

-- Whether the erasure of a client is scheduled and its waiting period has ended.
create function erasure_is_due(p_client uuid) returns boolean language sql stable set search_path from current as $$
  select exists (select from erasure where client_id = p_client and withdrawn_at is null and due_at <= clock_timestamp())
$$;

-- A revision never changes, except that erasing its client removes its contents.
create function keep_contents() returns trigger language plpgsql set search_path from current as $$
begin
  if old.data = '{}' or new.data <> '{}' or not erasure_is_due(old.client_id)
    or to_jsonb(new) - array['data', 'erased'] <> to_jsonb(old) - array['data', 'erased'] then
    raise exception 'rows of revision are neither changed nor taken away' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
drop trigger append_only on revision;
create trigger append_only before delete or truncate on revision for each statement execute function refuse_change();
create trigger contents_kept before update on revision for each row execute function keep_contents();

-- As in 0014_letters.sql, but a sent letter goes when its client is erased.
create or replace function keep_letter() returns trigger language plpgsql set search_path from current as $$
declare
  -- What archiving changes. Generated columns have no value yet.
  v_archiving constant text[] := array['version', 'updated_at', 'updated_by', 'archived_at', 'search'];
  v_was letter;
begin
  if tg_op <> 'INSERT' then v_was := old; end if;
  if tg_op = 'DELETE' and erasure_is_due(v_was.client_id) then return old; end if;
  if v_was.status = 'sent' then
    if tg_op = 'DELETE' or new.archived_at is not distinct from v_was.archived_at
      or to_jsonb(new) - v_archiving <> to_jsonb(v_was) - v_archiving then
      raise exception 'a sent letter cannot be changed' using errcode = 'TG004', column = case
        when tg_op = 'DELETE' then 'status' when new.subject <> v_was.subject then 'subject'
        when new.body <> v_was.body then 'body' else 'status' end;
    end if;
    return new;
  end if;
  if tg_op = 'DELETE' then return old; end if;
  if new.previous_id is not null
    and not exists (select from letter where id = new.previous_id and client_id = new.client_id) then
    raise exception 'a version belongs to the client of its letter' using errcode = 'TG003';
  end if;
  -- An approval is of one text.
  if v_was.status = 'approved' and (new.subject, new.body) is distinct from (v_was.subject, v_was.body) then
    v_was.status := 'draft';
    if new.status = 'approved' then new.status := 'draft'; end if;
  end if;
  if new.status = 'draft' then
    new.approved_at := null;
    new.approved_by := null;
  elsif v_was.status = 'approved' then
    new.approved_at := v_was.approved_at;
    new.approved_by := v_was.approved_by;
  else
    new.approved_at := record_time();
    new.approved_by := portal_person();
  end if;
  if new.status = 'sent' then
    new.sent_at := record_time();
    new.recipient := (select concat_ws(E'\n', name, address) from client where id = new.client_id);
    new.author := (select name from person where id = new.created_by);
  else
    new.sent_at := null;
    new.recipient := null;
    new.author := null;
  end if;
  return new;
end $$;

-- As in 0023_invoicing.sql, but invoices that were never issued are emptied when their client is erased.
create or replace function keep_invoice() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' and new.state = 'draft' then return new; end if;
  if tg_op = 'UPDATE' and (old.state = 'draft' or old.state = 'void' and new.state = 'void' and erasure_is_due(old.client_id))
    and (new.id, new.kind, new.account_id, new.client_id, new.month, new.credits_id, new.currency, new.decimals, new.created_at,
      new.created_by) is not distinct from (old.id, old.kind, old.account_id, old.client_id, old.month, old.credits_id,
      old.currency, old.decimals, old.created_at, old.created_by) then
    return new;
  end if;
  raise exception 'an invoice is changed only while it is a draft, and never deleted' using errcode = 'insufficient_privilege';
end $$;

create or replace function keep_invoice_line() returns trigger language plpgsql set search_path from current as $$
declare
  v_line invoice_line;
begin
  if tg_op = 'DELETE' then v_line := old; else v_line := new; end if;
  perform from invoice where id = v_line.invoice_id
    and (state = 'draft' or state = 'void' and tg_op = 'DELETE' and erasure_is_due(client_id)) for share;
  if not found or tg_op = 'UPDATE' then
    raise exception 'lines are replaced only while their invoice is a draft' using errcode = 'insufficient_privilege';
  end if;
  return v_line;
end $$;

-- An erased client stays as it is.
create function refuse_erased() returns trigger language plpgsql set search_path from current as $$
begin
  if exists (select from erased_client where client_id = old.id) then
    raise exception 'the client was erased' using errcode = 'TG003';
  end if;
  return new;
end $$;
create trigger stays_erased before update on client for each row execute function refuse_erased();

-- Starts no draft and no invoice for a client that was erased while the statement waited. Notes, disputes and letters have
-- touch_client().
create function skip_erased() returns trigger language plpgsql set search_path from current as $$
begin
  perform from client where id = new.client_id for key share;
  return case when exists (select from erased_client where client_id = new.client_id) then null else new end;
end $$;
create trigger not_of_erased before insert on draft for each row execute function skip_erased();
create trigger not_of_erased before insert on invoice for each row
  when (new.client_id is not null and new.kind = 'invoice') execute function skip_erased();

-- Erases a client whose erasure is due and was scheduled at least p_wait ago, and returns `erased`. Otherwise changes
-- nothing and returns `not_due`, or `busy` while something is generated for the client: then it also asks its drafts to stop.
create function erase_client(p_client uuid, p_wait interval) returns text language plpgsql set search_path from current as $$
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
    select id from letter where client_id = p_client union all select p_client);
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
revoke execute on function erase_client(uuid, interval) from public;

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'revoke update, delete, truncate on erased_client from {owner}',
    'grant select on erased_client to {partner}',
    'grant select (client_id) on erased_client to {consultant}',
    'alter table erasure enable row level security',
    'create policy own on erasure for select to {consultant}
      using (exists (select from client where client.id = erasure.client_id))',
    'create policy every on erasure for select to {partner} using (true)',
    -- Who scheduled it and when come from the transaction. The service waits by its own clock and setting: see erase_client().
    'create policy scheduled on erasure for insert to {partner} with check (withdrawn_at is null)',
    'create policy withdrawn on erasure for update to {partner} using (withdrawn_at is null)
      with check (withdrawn_at is not null and withdrawn_by is not distinct from (select portal_person()))',
    'grant select on erasure to {consultant}, {partner}',
    'grant insert (client_id, reason, due_at), update (withdrawn_by, withdrawn_at) on erasure to {partner}',
    -- What erase_client() does to a record whose erasure is due, and nothing else.
    'grant update (data, erased) on revision to {owner}',
    'create policy erased on revision for update to {owner} using (erasure_is_due(client_id)) with check (data = ''{}'')',
    'create policy erased on client for update to {owner} using (erasure_is_due(id))',
    'create policy erased on letter for delete to {owner} using (erasure_is_due(client_id))',
    'create policy erased on dispute for delete to {owner} using (erasure_is_due(client_id))',
    'create policy erased on note for delete to {owner} using (erasure_is_due(client_id))']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
