-- An invitation that was accepted with its link stays open, with its person, until the person has a way to sign in.

alter table invitation
  drop constraint invitation_check,
  add constraint invitation_check check (accepted_at is null or person_id is not null);

-- The first way to sign in closes it for good, also if a partner removes that way later.
create function close_invitation() returns trigger language plpgsql set search_path from current as $$
begin
  update invitation set accepted_at = now()
  where person_id = new.person_id and accepted_at is null and withdrawn_at is null;
  return null;
end $$;
create trigger invitation_closed after insert on identity for each row execute function close_invitation();
create trigger invitation_closed after insert on password for each row execute function close_invitation();
create trigger invitation_closed after insert on passkey for each row execute function close_invitation();
