-- Notes what the account had been charged when its credit changed.
create or replace function note_charged_at_credit() returns trigger language plpgsql set search_path from current as $$
begin
  new.charged_at_credit := new.charged;
  return new;
end $$;
