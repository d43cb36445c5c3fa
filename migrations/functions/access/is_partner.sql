-- Whether a person is a partner now. Every transaction with a partner's role calls it, because a role can change during a
-- long download. Null is the operator. It is not in the policies, where it would prevent searches from using indexes.
create or replace function is_partner(p_person uuid) returns boolean
language sql stable security definer set search_path from current as $$
  select p_person is null or exists (select from person where id = p_person and role = 'partner' and status = 'active')
$$;
revoke execute on function is_partner(uuid) from public;
