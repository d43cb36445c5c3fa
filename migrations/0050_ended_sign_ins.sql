-- Whatever ends a session of people also ends the sign-ins that they have not completed, the factors and providers that they
-- have begun to add, and the links that were mailed to them. Null: of everyone.
create function end_unfinished_sign_ins(people uuid[]) returns void language plpgsql set search_path from current as $$
begin
  delete from sign_in_attempt
  where step = 'proven' and (people is null or person_id = any(people))
    or step = 'begun' and links_to is not null and (people is null or links_to = any(people));
  delete from enrolment
  where people is null or session_id in (select s.id from session s where s.person_id = any(people));
  delete from password_reset
  where people is null or email_key in (select p.email_key from person p where p.id = any(people));
  delete from email_link
  where people is null or email_key in (select p.email_key from person p where p.id = any(people));
end $$;
-- Nobody but the owner, who calls it in the trigger below and in the same transactions as the changes.
revoke execute on function end_unfinished_sign_ins from public;

create or replace function end_sessions_of_changed_person() returns trigger language plpgsql set search_path from current as $$
begin
  perform end_unfinished_sign_ins(array[new.id]);
  delete from session where person_id = new.id;
  return null;
end $$;

create index on sign_in_attempt (person_id) where person_id is not null;
create index on sign_in_attempt (links_to) where links_to is not null;
