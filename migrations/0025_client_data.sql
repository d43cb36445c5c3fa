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
