-- The role of consultants reads only the columns that the policy lets a consultant see: src/access/columns.test.ts lists them for every
-- table. Version 0.2.0 reads none of the others as a consultant, so its instances keep working.

-- Whether a person may sign in, for those who may know it: partners, and the person.
create function is_active(p_person uuid) returns boolean language sql stable security definer set search_path from current as $$
  select exists (select from person where id = p_person and status = 'active'
    and (id = portal_person() or current_setting('role') = portal_role('partner')))
$$;

-- Whether a client was erased, for triggers that run in any role.
create function is_erased(p_client uuid) returns boolean language sql stable security definer set search_path from current as $$
  select exists (select from erased_client where client_id = p_client)
$$;

-- As before, but reads erased_client as its owner.
create or replace function refuse_erased() returns trigger language plpgsql set search_path from current as $$
begin
  if is_erased(old.id) then
    raise exception 'the client was erased' using errcode = 'TG003';
  end if;
  return new;
end $$;

create or replace function skip_erased() returns trigger language plpgsql set search_path from current as $$
begin
  perform from client where id = new.client_id for key share;
  return case when is_erased(new.client_id) then null else new end;
end $$;

-- As before, but asks is_active().
create or replace function keep_draft(p_draft uuid, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  d draft;
  v_client text;
  v_reply record;
  v_status text;
  v_letter uuid;
  v_version integer;
begin
  select * into d from draft where id = p_draft and created_by = portal_person() and is_active(created_by);
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

revoke execute on function is_active(uuid), is_erased(uuid), is_partner(uuid) from public;
do $$
declare
  v_consultant constant text := portal_role('consultant');
  v_partner constant text := portal_role('partner');
begin
  execute format('grant execute on function is_active(uuid), is_erased(uuid) to %I, %I', v_consultant, v_partner);
  -- It is called before a role is set.
  execute format('grant execute on function is_partner(uuid) to %I', portal_role('portal'));

  execute format('revoke select (email, role, status) on person from %I', v_consultant);
  execute format('revoke select (client_id) on erased_client from %I', v_consultant);
  execute format('revoke select (key_id) on usage_day from %I', v_consultant);
  execute format('revoke select (person_id) on ledger from %I', v_consultant);
  execute format('revoke select on audit, erasure, revision from %I', v_consultant);
  execute format('grant select (id, at, action, outcome, person_id, client_id, noun, noun_id, details) on audit to %I', v_consultant);
  execute format('grant select (client_id, reason, due_at, scheduled_at, scheduled_by, withdrawn_at) on erasure to %I', v_consultant);
  execute format('grant select (noun, noun_id, version, client_id, person_id, at, archived, data) on revision to %I', v_consultant);
end $$;
