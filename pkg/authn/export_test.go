package authn

// Remembered is how many tokens a verifier remembers.
func Remembered(v *Verifier) int { return v.tokens.Len() }
