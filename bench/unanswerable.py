"""Questions that nothing in the sets answers: `FAR` from other worlds, `NEAR` about software nobody noted."""

FAR = """
How long does sourdough need to rise in a cold kitchen?
Which moon of Saturn has geysers of water ice?
What did Napoleon eat before the battle of Waterloo?
When do swallows leave for Africa?
How do I remove red wine from a wool carpet?
What is the boiling point of tungsten?
Who composed the opera Rusalka?
How deep should tulip bulbs be planted?
Which vaccine is given against yellow fever?
What is the tax on inherited farmland in Portugal?
How many players are on a curling team?
Why are flamingos pink?
What is the plot of the third act of Hamlet?
How do I tune a twelve-string guitar?
Which glacier feeds the Rhone?
What is the recipe for pierogi with cabbage?
How is Gruyère cheese aged?
What does a carburettor jet do?
Which saint is the patron of beekeepers?
How do submarines measure depth?
What was the exchange rate of the guilder in 1637?
How do I knit a heel flap?
Which enzyme breaks down lactose?
What is the orbit period of Halley's comet?
How tall is the Burj Khalifa?
What are the rules of sumo wrestling?
When was the Hagia Sophia built?
How does a heat pump defrost itself?
What is the gestation period of an elephant?
Which wood is best for a violin's back?
jak długo gotować jajko na miękko
kto namalował Damę z gronostajem
сколько лет живут черепахи
какая самая длинная река в Сибири
quantum chromodynamics lattice gauge coupling
medieval guild charter of Lübeck
xyzzy plugh frobnicate
flurbine the quontal spindlewerk
""".strip().splitlines()

NEAR = """
How did we set up the Kubernetes ingress with gRPC streaming?
Which Bluetooth chipset crashed the firmware update?
Why does the Unity shader flicker on old Radeon cards?
What did we decide about the COBOL batch on the mainframe?
How was the OCR of scanned invoices improved?
Which MIDI library do we use for the sequencer?
Why does the drone lose its GPS fix indoors?
How do we sign the Windows installer?
What broke the Fortran weather model on ARM?
How is the elevator controller's watchdog tested?
Which voice codec did we choose for the intercom?
Why was the Haskell rewrite abandoned?
How do we calibrate the thermal camera?
What is the retention of the CCTV recordings?
How did we shrink the LaTeX thesis template?
Why does the e-ink display ghost after partial refresh?
How did we reverse engineer the CAN bus messages?
Which blockchain did the loyalty tokens run on?
How is the FPGA bitstream compressed?
What is the plan for the VR headset's hand tracking?
""".strip().splitlines()
