-- Whether a person may sign in and work on records, for those who may know it: partners, and the person.
create or replace function is_active(p_person uuid) returns boolean language sql stable security definer set search_path from current as $$
  select exists (select from person where id = p_person and status = 'active' and role <> 'developer'
    and (id = portal_person() or current_setting('role') = portal_role('partner')))
$$;
revoke execute on function is_active(uuid) from public;
