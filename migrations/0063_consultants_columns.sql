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
