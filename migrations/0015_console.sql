-- A partner can set a price in the portal. The audit log has who set it.
alter table price drop constraint price_source_check,
  add constraint price_source_check check (source in ('configuration', 'command', 'portal'));
