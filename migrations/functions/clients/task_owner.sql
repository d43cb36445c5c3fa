-- The person who does a task: the partner to whom it was given, as long as that person is an active partner, and otherwise the client's consultant.
create or replace function task_owner(p_owner uuid, p_consultant uuid) returns uuid
language sql stable security definer set search_path from current as $$
  select coalesce((select id from person where id = p_owner and role = 'partner' and status = 'active'), p_consultant)
$$;
revoke execute on function task_owner(uuid, uuid) from public;
do $$
begin
  execute format('grant execute on function task_owner(uuid, uuid) to %I, %I', portal_role('consultant'), portal_role('partner'));
end $$;
