-- A change of role or status ends every session and unfinished sign-in of the person, and the address of their calendar, however it is made.
create or replace function end_sessions_of_changed_person() returns trigger language plpgsql set search_path from current as $$
begin
  perform end_unfinished_sign_ins(array[new.id]);
  delete from session where person_id = new.id;
  delete from calendar_feed where person_id = new.id;
  return null;
end $$;
