-- The first way to sign in closes it for good, also if a partner removes that way later.
create or replace function close_invitation() returns trigger language plpgsql set search_path from current as $$
begin
  update invitation set accepted_at = now()
  where person_id = new.person_id and accepted_at is null and withdrawn_at is null;
  return null;
end $$;
