package lcj

// The methods below read members whose presence and type a schema has already established. They
// panic where that is not so, which is a fault of the program.

// Member gives a member's value, or nil where there is none.
func (o *Object) Member(name string) any {
	return o.members[name]
}

// Text gives a string.
func (o *Object) Text(name string) string {
	return o.members[name].(string)
}

// Int gives an integer.
func (o *Object) Int(name string) int64 {
	return o.members[name].(int64)
}

// Bool gives a boolean.
func (o *Object) Bool(name string) bool {
	return o.members[name].(bool)
}

// Object gives an object.
func (o *Object) Object(name string) *Object {
	return o.members[name].(*Object)
}

// List gives an array.
func (o *Object) List(name string) []any {
	return o.members[name].([]any)
}

// Texts gives an array of strings.
func (o *Object) Texts(name string) []string {
	return each[string](o.List(name))
}

// Ints gives an array of integers.
func (o *Object) Ints(name string) []int64 {
	return each[int64](o.List(name))
}

// Objects gives an array of objects.
func (o *Object) Objects(name string) []*Object {
	return each[*Object](o.List(name))
}

func each[T any](list []any) []T {
	out := make([]T, 0, len(list))
	for _, element := range list {
		out = append(out, element.(T))
	}
	return out
}

// Optional gives a member that may be null or absent, as nil then.
func Optional[T any](o *Object, name string) *T {
	if value, given := o.Member(name).(T); given {
		return &value
	}
	return nil
}

// Array gives the array of some elements.
func Array[T any](elements []T) []any {
	out := make([]any, len(elements))
	for i, element := range elements {
		out[i] = element
	}
	return out
}
