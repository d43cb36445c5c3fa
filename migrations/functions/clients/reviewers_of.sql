-- The people who may read the record of a client of this consultant, and can therefore review its letters: active partners, and the
-- consultant, whom a consultant sees only as themselves.
create or replace function reviewers_of(p_consultant uuid) returns table (id uuid, name text, partner boolean)
language sql stable security definer set search_path from current as $$
  select p.id, p.name, p.role = 'partner' from person p
  where p.status = 'active' and (p.role = 'partner' or p.role = 'consultant' and p.id = p_consultant
    and (p.id = portal_person() or current_setting('role') = portal_role('partner')))
$$;
revoke execute on function reviewers_of(uuid) from public;
do $$
begin
  execute format('grant execute on function reviewers_of(uuid) to %I, %I', portal_role('consultant'), portal_role('partner'));
end $$;
