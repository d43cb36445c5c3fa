-- Whether the rule of the firm lets the person of this transaction approve a letter, or one that they are writing now.
create or replace function may_approve_letter(p_letter uuid, p_writes boolean) returns boolean
language plpgsql stable set search_path from current as $$
begin
  case coalesce((select rule from letter_approval), 'anyone')
    when 'anyone' then return true;
    when 'partners' then return current_user = portal_role('partner');
    when 'not-writer' then return not p_writes and not wrote_letter(p_letter, portal_person());
  end case;
end $$;
