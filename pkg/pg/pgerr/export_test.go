package pgerr

// ForgetFull forgets that the server had no room.
func ForgetFull() { fullAt.Store(0) }
