-- Whatever ends a session of people also ends the sign-ins that they have not completed, the factors and providers that they
-- have begun to add, the links that were mailed to them, and what a surviving session has begun to confirm. Null: of everyone.
create or replace function end_unfinished_sign_ins(people uuid[]) returns void language plpgsql set search_path from current as $$
begin
  delete from sign_in_attempt
  where step = 'proven' and (people is null or person_id = any(people))
    or step = 'begun' and links_to is not null and (people is null or links_to = any(people));
  delete from enrolment
  where people is null or session_id in (select s.id from session s where s.person_id = any(people));
  delete from confirmation
  where people is null or session_id in (select s.id from session s where s.person_id = any(people));
  delete from password_reset
  where people is null or address_key in (select p.email_key from person p where p.id = any(people));
  delete from email_link
  where people is null or address_key in (select p.email_key from person p where p.id = any(people));
end $$;
revoke execute on function end_unfinished_sign_ins from public;
