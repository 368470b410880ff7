package fault

// The functions of this file check requests that must have one of several properties. path is the
// position of the properties in the request, "The request" for the request itself. names lists the
// properties as in a sentence ("ids, qualifiers and refs"), and given says for each, in the same
// order, whether the request has it.

// ExactlyOne returns the error 400 with the code unless a request has exactly one of the
// properties.
func ExactlyOne(code, path, names string, given ...bool) error {
	return OneOf(code, code, path, names, given...)
}

// OneOf is [ExactlyOne] with two codes: none for a request that has none of the properties, and
// several for a request that has more than one.
func OneOf(none, several, path, names string, given ...bool) error {
	code := several
	switch countTrue(given) {
	case 0:
		code = none
	case 1:
		return nil
	}
	return Invalid(code, path+" needs exactly one of "+names+".")
}

// AtMostOne returns the error 400 with the code if a request has several of the properties.
func AtMostOne(code, path, names string, given ...bool) error {
	if countTrue(given) <= 1 {
		return nil
	}
	return Invalid(code, path+" takes only one of "+names+".")
}

func countTrue(conditions []bool) (n int) {
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}
