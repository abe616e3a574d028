-- Apps of the App Store are found by their bundle id.
create index store_app_bundle on store_app (bundle_id, id) where platform = 'ios' and bundle_id is not null;
