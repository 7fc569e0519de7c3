/* A plugin of another release: it needs a function that this one does not have. */
struct verbs_device_ops;

void verbs_register_driver_99(const struct verbs_device_ops *ops);

__attribute__((constructor)) static void load(void)
{
	verbs_register_driver_99((void *)0);
}
