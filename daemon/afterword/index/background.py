"""Questions about the world at large: how near they come to an index shows how near is not near enough in it.

An index of chat about everyday life is a little near to any of them, one of notes about servers to none. So the floor
below which nothing is returned is not the same for both.
"""

BACKGROUND = (
    "How do I keep basil alive in winter?",
    "Which planet has the shortest day?",
    "What is the capital of Mongolia?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How long should I roast a chicken?",
    "What does a notary charge for a will?",
    "When did the Berlin Wall come down?",
    "Which birds sing at night?",
    "How is champagne made?",
    "What are the symptoms of scurvy?",
    "How many strings does a cello have?",
    "Why do cats purr?",
    "What is the offside rule in football?",
    "How do glaciers form valleys?",
    "Which bus goes to the airport?",
    "How do I fold a paper crane?",
    "What is the plot of Don Quixote?",
    "How much does a passport cost?",
    "Who discovered penicillin?",
    "What should I wear to a wedding in spring?",
    "How deep is the Mariana Trench?",
    "What is a good gift for a ten year old?",
    "How do bees find their way home?",
    "Which spices go into garam masala?",
    "What happened at the battle of Hastings?",
    "How do I get rid of moss in a lawn?",
    "What are the lyrics of the national anthem?",
    "How does a sewing machine make a stitch?",
    "Which exercises help against back pain?",
    "What is the highest mountain in Africa?",
    "jak upiec chleb na zakwasie",
    "kiedy kwitną jabłonie",
    "как вырастить помидоры на балконе",
    "кто написал Войну и мир",
    "wie lange muss ein Ei kochen",
    "quelle est la hauteur de la tour Eiffel",
)
